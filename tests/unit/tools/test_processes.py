"""Commands that keep running, and scripts that call tools, with processes in memory."""

import json
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, LiveProcess, OutputSnapshot
from hermes_acp.core.proposals import Result, Runs
from hermes_acp.tools.builtin.execute_code import Arguments as CodeArguments
from hermes_acp.tools.builtin.execute_code import ExecuteCode
from hermes_acp.tools.builtin.process import Arguments as ProcessArguments
from hermes_acp.tools.builtin.process import Process
from hermes_acp.tools.builtin.terminal import Arguments as TerminalArguments
from hermes_acp.tools.builtin.terminal import Terminal
from hermes_acp.tools.heredocs import with_heredoc
from hermes_acp.tools.scripts.script_calls import ScriptCallServer
from tests.unit.tools.external_fakes import ScriptTools
from tests.unit.tools.tool_calling import MemoryWorkspace, Report

pytestmark = pytest.mark.anyio


class ScriptedProcess:
    """A process that prints prepared output, one poll at a time, and stores its input."""

    def __init__(self, name: str, line: str, *looks: OutputSnapshot) -> None:
        self.name = name
        self.line = line
        self.is_confined = False
        self.looks = list(looks)
        self.waits: list[float] = []
        self.written = ""
        self.is_killed = False

    async def read(self, wait_s: float) -> OutputSnapshot:
        self.waits.append(wait_s)
        return self.looks.pop(0) if self.looks else OutputSnapshot("")

    async def write(self, text: str) -> None:
        self.written += text

    async def kill(self) -> None:
        self.is_killed = True
        self.looks.append(OutputSnapshot("", CommandResult("", None, signal="SIGKILL")))


class LiveWorkspace(MemoryWorkspace):
    """A workspace whose commands keep running."""

    def __init__(self, *looks: OutputSnapshot) -> None:
        super().__init__()
        self.processes: dict[str, ScriptedProcess] = {}
        self.launched: list[tuple[Command, bool]] = []
        self._looks = looks

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        return self.processes

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        self.launched.append((command, in_terminal))
        process = ScriptedProcess(f"p{len(self.launched)}", command.line, *self._looks)
        self.processes[process.name] = process
        return process


async def tell(workspace: MemoryWorkspace, **arguments: object) -> Result:
    proposal = await Process().propose(ProcessArguments.model_validate(arguments), workspace)
    return await proposal.perform(Report())


@pytest.mark.parametrize(("manner", "in_terminal"), [("background", False), ("pty", True)])
async def test_a_command_is_left_running_with_a_name(manner: str, in_terminal: bool) -> None:
    workspace = LiveWorkspace(OutputSnapshot("listening\n"))
    proposal = await Terminal().propose(
        TerminalArguments.model_validate({"command": "serve", manner: True}), workspace
    )
    assert proposal.title == "Run in the background serve"
    result = await proposal.perform(Report())
    assert (result.text, result.is_error) == ("listening\n[p1 is running]", False)
    ((command, was_in_terminal),) = workspace.launched
    assert (command.line, was_in_terminal) == ("serve", in_terminal)


async def test_a_command_outside_the_sandbox_says_so() -> None:
    workspace = LiveWorkspace()
    proposal = await Terminal().propose(TerminalArguments(command="mount", unsandboxed=True), workspace)
    (effect,) = proposal.effects
    assert isinstance(effect, Runs)
    assert effect.leaves_sandbox
    await proposal.perform(Report())
    assert workspace.commands[0].confinement == "never"
    assert "without a sandbox" in proposal.title


async def test_processes_are_listed_read_and_killed() -> None:
    workspace = LiveWorkspace()
    assert (await tell(workspace, action="list")).text == "No commands are running in the background."
    process = ScriptedProcess(
        "p1", "serve\n--all", OutputSnapshot("one\n"), OutputSnapshot("", CommandResult("", 3))
    )
    workspace.processes["p1"] = process
    assert (await tell(workspace, action="list")).text == "p1: serve\\n--all"
    assert (await tell(workspace, action="read", name="p1", wait_s=9)).text == "one\n[p1 is running]"
    assert process.waits == [9]
    ended = await tell(workspace, action="read", name="p1")
    assert ended.text == "(no new output)\n[p1 has ended] [exit code: 3]"
    killed = await tell(workspace, action="kill", name="p1")
    assert process.is_killed
    assert killed.text.endswith("[p1 has ended] [killed by SIGKILL]")


async def test_input_is_checked_like_the_commands_standard_input() -> None:
    workspace = LiveWorkspace()
    workspace.processes["p1"] = ScriptedProcess("p1", "bash", OutputSnapshot("done\n"))
    arguments = ProcessArguments(action="write", name="p1", text="rm -rf x\n")
    proposal = await Process().propose(arguments, workspace)
    effect = Runs("bash <<'INPUT'\nrm -rf x\nINPUT", "/project", ("/project",))
    assert proposal.effects == (effect,)
    assert "rm -rf x" in proposal.title
    assert workspace.processes["p1"].written == ""
    assert (await proposal.perform(Report())).text == "done\n[p1 is running]"
    assert workspace.processes["p1"].written == "rm -rf x\n"
    workspace.processes["p1"].is_confined = True
    proposal = await Process().propose(arguments, workspace)
    assert proposal.effects == (replace(effect, confined=True),)


async def test_an_unknown_process_is_answered_with_the_known_ones() -> None:
    workspace = LiveWorkspace()
    with pytest.raises(BadRequest, match="no process 'p7'"):
        await tell(workspace, action="read", name="p7")
    workspace.processes["p1"] = ScriptedProcess("p1", "x")
    with pytest.raises(BadRequest) as refused:
        await tell(workspace, action="kill", name="p7")
    assert "Known processes: p1." in refused.value.sentence()


def test_input_cannot_end_its_own_delimiter() -> None:
    assert with_heredoc("bash", "a\nINPUT\nrm x") == "bash <<'INPUT_'\na\nINPUT\nrm x\nINPUT_"


def frames(*messages: object, piece: int = 40) -> str:
    lines: list[str] = []
    for message in messages:
        text = json.dumps(message)
        *first, last = [text[start : start + piece] for start in range(0, len(text), piece)]
        lines += [f"+{part}" for part in first] + [f"={last}"]
    return "\n".join(lines) + "\n"


async def run_script(*looks: OutputSnapshot, code: str = "x") -> tuple[Result, ScriptTools, ScriptedProcess]:
    workspace, tools = LiveWorkspace(*looks), ScriptTools()
    proposal = await ExecuteCode(tools).propose(CodeArguments(code=code), workspace)
    result = await proposal.perform(Report())
    return result, tools, workspace.processes["p1"]


async def test_the_calls_of_a_script_are_made_and_its_output_reported() -> None:
    ready = frames({"ready": True})
    calls = frames({"call": "look", "arguments": {"at": "it" * 100}}, {"call": "fail", "arguments": {}})
    result, tools, process = await run_script(
        OutputSnapshot(ready + calls[:30]),
        OutputSnapshot(calls[30:]),
        OutputSnapshot(frames({"printed": "All seen.\n"}), CommandResult("", 0)),
        code="print(1)",
    )
    assert (result.text, result.is_error) == ("All seen.\n[exit code: 0]\n[2 tool calls]", False)
    assert tools.called == [("look", json.dumps({"at": "it" * 100})), ("fail", "{}")]
    source, task, *answers = [line for line in process.written.split("\n") if line]
    assert "def run()" in json.loads(source)
    assert json.loads(task) == {"code": "print(1)", "tools": ["look", "fail", "much"], "cwd": "/project"}
    assert [json.loads(answer)["is_error"] for answer in answers] == [False, True]
    assert process.is_killed


async def test_a_script_that_never_ran_is_reported_with_the_actual_output() -> None:
    result, _, _ = await run_script(
        OutputSnapshot("bash: python3: command not found\n", CommandResult("", 127))
    )
    assert result.is_error
    assert result.text == "bash: python3: command not found\n[exit code: 127]\n[0 tool calls]"


@pytest.mark.parametrize(
    "line", ["=null", "={", "=" + "[" * 5000, '={"call": 1}', '={"call": "look", "arguments": []}', "what"]
)
async def test_lines_that_are_not_messages_are_ignored(line: str) -> None:
    tools = ScriptTools()
    process = ScriptedProcess("p1", "python3", OutputSnapshot(f"{line}\n", CommandResult("", 1)))
    answering = ScriptCallServer(process, {}, lambda name, given: tools.call(name, given, Report()), 5)
    await answering.run()
    assert (tools.called, process.written) == ([], "")
    assert answering.noise


async def test_the_number_of_calls_of_a_script_is_limited() -> None:
    tools = ScriptTools()
    process = ScriptedProcess(
        "p1", "python3", OutputSnapshot(frames({"call": "look", "arguments": {}}) * 4, CommandResult("", 0))
    )
    answering = ScriptCallServer(process, {}, lambda name, given: tools.call(name, given, Report()), 3)
    await answering.run()
    assert len(tools.called) == 3
    assert "the limit for one script" in json.loads(process.written.split("\n")[3])["text"]


async def test_a_message_that_is_too_large_is_rejected_unread() -> None:
    tools = ScriptTools()
    pieces = [OutputSnapshot(f"+{'x' * 60_000}\n")] * 71
    process = ScriptedProcess("p1", "python3", *pieces, OutputSnapshot("=\n", CommandResult("", 0)))
    answering = ScriptCallServer(process, {}, lambda name, given: tools.call(name, given, Report()), 5)
    await answering.run()
    *empty, refusal, _ = process.written.split("\n")
    assert (set(empty), len(empty), tools.called) == ({""}, 71, [])
    assert "more than 4,194,304 characters" in json.loads(refusal)["text"]


async def test_a_script_is_checked_like_a_command() -> None:
    proposal = await ExecuteCode(ScriptTools()).propose(
        CodeArguments(code="import os\nos.remove('x')\n"), LiveWorkspace()
    )
    assert proposal.effects == (
        Runs("python3 <<'INPUT'\nimport os\nos.remove('x')\nINPUT", "/project", ("/project",)),
    )
    assert proposal.title == "Run a Python script of 2 lines"
