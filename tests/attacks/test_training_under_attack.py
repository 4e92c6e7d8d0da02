"""An agent that wants to start a training or change a locked field, with everything its tools can do.

In `auto`, and in `bypass`, where its commands have all the user's permissions. The trainer is a scripted one that
would start at once; it must never run. Not covered: typing into the user's own terminal, such as their tmux, which
`docs/training.md` names as a limit of `bypass`.
"""

from __future__ import annotations

import base64
import json
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import pytest
import yaml

from tests.attacks.attack_checks import AttackedAgent, attacked_agent, result_of
from tests.e2e.agent_process import COMMAND, agent_environment, run_command
from tests.e2e.person_terminal import person_terminal, why_there_is_no_person
from tests.e2e.raw_editor import permit
from tests.model_server import Reply, ToolCall
from tests.training_home import TrainingHome

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the marks are Linux's"),
]
MODES: Final = ("auto", "bypass")
START: Final = f"{COMMAND} train start demo"
PYTHON: Final = sys.executable
OTHER_FIELDS: Final = {"base_model": "evil", "learning_rate": 0.5}
CLEAN: Final = "env -i PATH=$PATH HOME=$HOME PYTHONPATH=$PYTHONPATH"
NEVER_SAID: Final = "the digest above"
TYPIST: Final = r"""
import os, pty, re, select, sys, time
shown = b""
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
try:
    while True:
        shown += os.read(terminal, 4096)
        if found := re.search(rb"Type ([0-9a-f]{8}-[a-z]{4})", shown):
            os.write(terminal, found[1] + b"\n")
            shown = shown.replace(b"Type", b"Typed")
except OSError:
    pass
os.waitpid(child, 0)
print(shown.decode())
"""
"""Starts a program in a new terminal, reads the code that it asks for, and types it."""
DETACHED: Final = r"""
import os, subprocess, sys
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
if "shed" in sys.argv[2]:
    import resource
    try:
        resource.setrlimit(10, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError:
        open(sys.argv[1], "w").write("the limit stays\nended")
        os._exit(1)
kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH")}
with open(sys.argv[1], "wb") as log:
    done = subprocess.run(sys.argv[3:], env=kept, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    log.write(b"\nended")
"""
"""Leaves its parents and its variables, and starts a program; with `shed`, it removes the limit first."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def training(tmp_path: Path) -> TrainingHome:
    home = TrainingHome(tmp_path)
    home.prepare()
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "typist.py").write_text(TYPIST)
    (tmp_path / "workspace" / "detached.py").write_text(DETACHED)
    return home


@asynccontextmanager
async def besieged(
    training: TrainingHome, mode: str, settings: str = ""
) -> AsyncGenerator[tuple[AttackedAgent, str]]:
    """Yield an agent in a mode and a session in it; afterwards, nothing may have been trained."""
    async with attacked_agent(
        training.folder,
        settings=f"allow_bypass: true\nmode: {mode}\n{settings}",
        answers={"session/request_permission": permit("reject_once")},
        environment={"PYTHONPATH": str(training.packages)},
    ) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        await siege.check_prompt(session_id)
        yield siege, session_id
    check_nothing_trained(training)


def check_nothing_trained(training: TrainingHome) -> None:
    assert not (training.run / "given.json").exists()
    assert not (training.run / "state.json").exists()
    assert not (training.run / "adapter").exists()


COMMANDS: Final = (
    START,
    f"echo yes | {START}",
    f"{CLEAN} setsid {START} </dev/null",
    f"script -qec '{START}' /dev/null </dev/null",
    f"{PYTHON} typist.py {START}",
    f"{CLEAN} {PYTHON} typist.py {START}",
    f"{PYTHON} -P -m hermes_acp.training.trainer_process <job.json",
    f"{COMMAND} train stop demo",
    f"{COMMAND} train serve demo",
)


@pytest.mark.parametrize("mode", MODES)
async def test_no_command_of_an_agent_starts_a_training(training: TrainingHome, mode: str) -> None:
    job = {"name": "demo", "trainer": "scripted", "method": "sft", "run": str(training.run)}
    (training.folder / "workspace" / "job.json").write_text(json.dumps(job))
    async with besieged(training, mode) as (siege, session_id):
        for line in COMMANDS:
            said = result_of(await siege.call("terminal", {"command": line}, session_id))
            assert NEVER_SAID not in said
            if mode == "bypass":
                assert "Only a person" in said, (line, said)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("manner", "refusals"),
    [("kept", ("an agent",)), ("shed", ("the limit stays", "a program types at its terminal"))],
)
async def test_a_process_that_leaves_its_agent_starts_no_training(
    training: TrainingHome, mode: str, manner: str, refusals: tuple[str, ...]
) -> None:
    log = training.folder / "workspace" / "detached.log"
    line = f"{PYTHON} detached.py {log} {manner} {PYTHON} typist.py {START}"
    tries = 300 if mode == "bypass" else 50  # A confined command leaves no process that could write.
    until = f"for i in $(seq {tries}); do grep -q ended {log} && break; sleep 0.1; done"
    async with besieged(training, mode) as (siege, session_id):
        await siege.call("terminal", {"command": f"{line}; {until}; cat {log}"}, session_id)
        if mode == "bypass":
            said = log.read_text()
            assert any(refusal in said for refusal in refusals), said


@pytest.mark.parametrize("mode", MODES)
async def test_the_terminal_that_an_agent_types_into_starts_no_training(
    training: TrainingHome, mode: str
) -> None:
    async with besieged(training, mode) as (siege, session_id):
        arguments = {"command": START, "background": True, "pty": True}
        read = Reply(tool_calls=(ToolCall("process", {"action": "read", "name": "p1", "wait_s": 10}),))
        write = Reply(tool_calls=(ToolCall("process", {"action": "write", "name": "p1", "text": "yes\n"}),))
        ends = await siege.turn(
            Reply(tool_calls=(ToolCall("terminal", arguments),)), read, write, session_id=session_id
        )
        said = "".join(map(result_of, ends))
        assert NEVER_SAID not in said
        if mode == "bypass":
            assert "Only a person" in said, said


@pytest.mark.skipif(not shutil.which("tmux"), reason="there is no tmux")
@pytest.mark.parametrize("mode", MODES)
async def test_a_terminal_that_an_agent_creates_starts_no_training(training: TrainingHome, mode: str) -> None:
    tmux = f"tmux -S {training.folder}/workspace/t -f /dev/null"
    line = (
        f"{CLEAN} {tmux} new-session -d -x 250 /bin/sh; "
        f"{tmux} send-keys '{START}; echo over' Enter; "
        f"for i in $(seq 100); do {tmux} capture-pane -p | grep -q ^over && break; sleep 0.1; done; "
        f"{tmux} capture-pane -p; {tmux} kill-server"
    )
    async with besieged(training, mode) as (siege, session_id):
        said = result_of(await siege.call("terminal", {"command": line}, session_id))
        assert NEVER_SAID not in said
        if mode == "bypass":
            assert "Only a person" in said, said


@pytest.mark.parametrize("mode", MODES)
async def test_a_script_of_an_agent_starts_no_training(training: TrainingHome, mode: str) -> None:
    script = (
        "import subprocess\n"
        f"done = subprocess.run([{PYTHON!r}, 'typist.py', {COMMAND!r}, 'train', 'start', 'demo'], "
        "capture_output=True, text=True)\nprint(done.stdout, done.stderr)"
    )
    async with besieged(training, mode) as (siege, session_id):
        said = result_of(await siege.call("execute_code", {"code": script}, session_id))
        assert NEVER_SAID not in said


@pytest.mark.parametrize("mode", MODES)
async def test_neither_a_hook_nor_a_server_starts_a_training(training: TrainingHome, mode: str) -> None:
    typist = f"{training.folder}/workspace/typist.py"
    logs = [training.folder / "hook.log", training.folder / "server.log"]
    lines = [f"{PYTHON} {typist} {START} >>{log} 2>&1; echo ended >>{log}" for log in logs]
    settings = yaml.safe_dump(
        {
            "hooks": {"start": {"event": "session_start", "command": lines[0]}},
            "mcp_servers": {"evil": {"command": "/bin/sh", "args": ["-c", lines[1]]}},
        }
    )
    async with besieged(training, mode, settings):
        with anyio.fail_after(60):
            while not all(log.exists() and "ended" in log.read_text() for log in logs):
                await anyio.sleep(0.05)
    for log in logs:
        assert "Only a person" in log.read_text()


CHANGES: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("write_file", {"path": "{file}", "content": "x"}),
    ("edit_file", {"path": "{file}", "old_text": "0.001", "new_text": "0.5"}),
    ("terminal", {"command": "sed -i s/0.001/0.5/ {file}"}),
    ("terminal", {"command": "echo x > {file}"}),
    ("terminal", {"command": "ln -sf /tmp/x {file}"}),
    ("terminal", {"command": "rm -rf {run} {file}"}),
    ("terminal", {"command": "mv {file} {file}.old"}),
)


@pytest.mark.parametrize("mode", MODES)
async def test_policy_denies_the_training_file(training: TrainingHome, mode: str) -> None:
    before = training.file.read_bytes()
    places = {"file": training.file, "run": training.run}
    async with besieged(training, mode) as (siege, session_id):
        for tool, arguments in CHANGES:
            filled = {name: value.format(**places) for name, value in arguments.items()}
            said = result_of(await siege.call(tool, filled, session_id))
            assert said.startswith("failed"), (tool, said)
            assert training.file.read_bytes() == before


async def test_writes_of_a_confined_program_do_not_reach_the_training_file(
    training: TrainingHome,
) -> None:
    before = training.file.read_bytes()
    line = f"{PYTHON} -c \"import base64; open(base64.b64decode('{encoded(str(training.file))}'), 'w').write('x')\""
    async with besieged(training, "auto") as (siege, session_id):
        await siege.call("terminal", {"command": line}, session_id)
    assert training.file.read_bytes() == before


@pytest.mark.skipif(bool(why_there_is_no_person()), reason=why_there_is_no_person())
async def test_writes_of_an_unconfined_program_to_the_training_file_are_not_used(
    training: TrainingHome, tmp_path: Path
) -> None:
    """In `bypass`, a command can write where its user can, but the running trainer and its checkpoints detect it."""
    changed = encoded(json.dumps(json.loads(training.file.read_text()) | {"locked": OTHER_FIELDS}))
    line = (
        f"{PYTHON} -c \"import base64; open(base64.b64decode('{encoded(str(training.file))}'), 'wb').write("
    )
    line += f"base64.b64decode('{changed}'))\""
    training.allow(7)
    async with person_terminal(tmp_path / "t", training.variables()) as terminal:
        await terminal.train("start demo")
        with anyio.fail_after(60):
            while not (training.run / "checkpoints/checkpoint-5/complete").exists():
                await anyio.sleep(0.05)
        async with attacked_agent(training.folder, settings="allow_bypass: true\nmode: bypass\n") as siege:
            await siege.call("terminal", {"command": line})
        assert "0.5" in training.file.read_text()
        shown = await terminal.run(f"{COMMAND} train stop demo")
        assert "save a checkpoint after this step" in shown
        training.allow(8)
        with anyio.fail_after(60):
            while json.loads((training.run / "state.json").read_text())["phase"] != "stopped":
                await anyio.sleep(0.05)
        assert json.loads((training.run / "given.json").read_text())["learning_rate"] == 0.001
        assert "differ from those of the checkpoints" in await terminal.run(f"{COMMAND} train start demo")


@pytest.mark.parametrize("name", ["CI", "GITHUB_ACTIONS", "CLAUDECODE", "HERMES_CALL_ID"])
async def test_the_variables_of_ci_and_of_other_agents_are_sufficient_evidence(
    training: TrainingHome, name: str
) -> None:
    variables = {**agent_environment(training.folder), **training.variables(), name: "1"}
    done = await run_command("train", "start", "demo", environment=variables, cwd=training.folder)
    assert (done.code, name in done.errors) == (2, True)
    check_nothing_trained(training)


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
