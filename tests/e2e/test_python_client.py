"""The bundled Python client: its documented examples as printed, and agents that misbehave."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from hermes_acp_client.blocking import BlockingAgent
from hermes_acp_client.child import start_child
from hermes_acp_client.errors import AgentError, AgentGone, AgentRefused, WrongVersion
from hermes_acp_client.opening import adopt_agent, open_agent

from tests.architecture.sources import ROOT
from tests.e2e.agent_process import WAIT_S, agent_environment
from tests.model_server import Reply, ToolCall, serve

pytestmark = pytest.mark.anyio

README = ROOT / "editor-clients" / "python" / "README.md"
GUIDE = ROOT / "docs" / "python-client.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
REPLIES = (Reply("It adds."),)
READ = ToolCall("read_file", {"path": "a.py"})
EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})


def printed(document: Path) -> list[str]:
    return BLOCK.findall(document.read_text())


def agent(*says: str) -> list[str]:
    """Return a command that reads a line and then follows the given script."""
    return [sys.executable, "-c", "\n".join(("import json, os, sys", "call = sys.stdin.readline()", *says))]


def answering(result: str) -> list[str]:
    """Return an agent that answers `initialize` and then waits for its end."""
    answer = f'print(json.dumps({{"jsonrpc": "2.0", "id": json.loads(call)["id"], "result": {result}}}))'
    return agent(answer, "sys.stdout.flush()", "sys.stdin.read()")


BROKEN: Sequence[tuple[list[str], type[AgentError], str]] = (
    (["/nowhere/hermes-acp"], AgentGone, "/nowhere/hermes-acp could not be started"),
    (agent('sys.stderr.write("no disk left")', "os._exit(3)"), AgentGone, "status 3:\nno disk left"),
    (agent("os.abort()"), AgentGone, "ended with status -6"),
    (
        answering('{"protocolVersion": 7}'),
        WrongVersion,
        "the agent speaks version 7 of the protocol, this client version 1",
    ),
)


@pytest.mark.parametrize(("command", "kind", "words"), BROKEN)
async def test_a_broken_agent_is_named_with_its_output(
    command: list[str], kind: type[AgentError], words: str
) -> None:
    with anyio.fail_after(WAIT_S), pytest.raises(kind) as caught:
        async with open_agent(command):
            raise AssertionError("there is no such agent")
    assert words in str(caught.value)
    with pytest.raises(kind) as caught:
        await anyio.to_thread.run_sync(BlockingAgent, command)
    assert words in str(caught.value)


async def test_an_invalid_answer_to_initialize_is_an_error() -> None:
    with anyio.fail_after(WAIT_S), pytest.raises(AgentRefused, match="unexpected form"):
        async with open_agent(answering('{"protocolVersion": "one"}')):
            raise AssertionError("there is no such agent")


async def test_an_agent_may_be_started_before_there_is_an_event_loop(tmp_path: Path) -> None:
    async with serve([]) as server:
        process = start_child([sys.executable, "-m", "hermes_acp"], agent_environment(tmp_path, server))
        with anyio.fail_after(WAIT_S):
            async with adopt_agent(process) as agent:
                assert (await agent.new_session(str(tmp_path))).id
    assert process.returncode == 0


async def test_a_death_during_a_turn_is_reported(tmp_path: Path) -> None:
    async with serve([Reply("never", delay_s=WAIT_S)]) as server:
        process = start_child([sys.executable, "-m", "hermes_acp"], agent_environment(tmp_path, server))
        with anyio.fail_after(WAIT_S), pytest.raises(AgentGone, match="status -9"):
            await kill_in_turn(process, tmp_path)


async def kill_in_turn(process: subprocess.Popen[bytes], folder: Path) -> None:
    async with adopt_agent(process) as agent:
        session = await agent.new_session(str(folder))
        async with session.prompt("go") as turn:
            async for _ in turn:
                process.kill()


async def test_a_process_that_holds_standard_error_open_delays_nothing(tmp_path: Path) -> None:
    left = agent(
        "import subprocess",
        'subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, start_new_session=True)',
        'print(json.dumps({"jsonrpc": "2.0", "id": json.loads(call)["id"], "result": {"protocolVersion": 1}}))',
        "sys.stdout.flush()",
        "sys.stdin.read()",
    )
    with anyio.fail_after(WAIT_S):
        async with open_agent(left):
            pass


@pytest.mark.parametrize(
    ("document", "number", "said"),
    [
        (README, 0, "It adds."),
        (README, 1, "agent_message_chunk"),
        (GUIDE, 0, "It adds."),
        (GUIDE, 1, "text='Done.'"),
    ],
)
async def test_a_printed_example_runs(tmp_path: Path, document: Path, number: int, said: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("x = 1\n")
    program = tmp_path / "program.py"
    program.write_text(printed(document)[number].replace("/path/to/project", str(project)))
    replies = (
        REPLIES
        if document is README or number == 0
        else (Reply(tool_calls=(READ,)), Reply(tool_calls=(EDIT,)), Reply("Done."))
    )
    async with serve(replies) as server:
        environment = agent_environment(tmp_path, server)
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        with anyio.fail_after(WAIT_S):
            done = await anyio.run_process(
                [sys.executable, "-W", "error", str(program)],
                env=environment,
                check=False,
                stderr=subprocess.STDOUT,
            )
    assert done.returncode == 0, done.stdout.decode()
    assert said in done.stdout.decode()
    if replies is not REPLIES:
        assert (project / "a.py").read_text() == "x = 5\n"


def test_printed_examples_are_typed(tmp_path: Path) -> None:
    for document in (README, GUIDE):
        for number, text in enumerate(printed(document)):
            (tmp_path / f"{document.stem}_{number}.py").write_text(text)
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11"})
    )
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
