"""Launched commands are inspected, given input and ended later."""

import os
import signal
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, LiveProcess, OutputSnapshot, Workspace
from hermes_acp.workspaces.backends.local import BACKEND
from hermes_acp.workspaces.processes.background_processes import MAX_RUNNING
from hermes_acp.workspaces.processes.process_table import list_processes

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncGenerator[Workspace]:
    (tmp_path / "temporary").mkdir()
    (tmp_path / "project").mkdir()
    variables = {"PATH": os.defpath, "TMPDIR": str(tmp_path / "temporary")}
    workspace = BACKEND.open(str(tmp_path / "project"), (str(tmp_path / "project"),), variables)
    yield workspace
    with anyio.fail_after(60):
        await workspace.close()
    assert os.listdir(tmp_path / "temporary") == []


async def launch(workspace: Workspace, line: str, *, in_terminal: bool = False) -> LiveProcess:
    return await workspace.launch(Command(line, workspace.cwd, 1), in_terminal=in_terminal)


async def read_until(process: LiveProcess, awaited: str) -> str:
    said = ""
    with anyio.fail_after(60):
        while awaited not in said:
            sight = await process.read(10)
            said += sight.output
            assert sight.end is None or awaited in said, said
    return said


async def read_to_end(process: LiveProcess) -> OutputSnapshot:
    said = ""
    with anyio.fail_after(60):
        while True:
            sight = await process.read(10)
            said += sight.output
            if sight.end is not None:
                return OutputSnapshot(said, sight.end)


def is_running(pid: int) -> bool:
    row = list_processes().get(pid)
    return row is not None and not row.is_dead


async def test_a_process_is_launched_gets_input_and_ends(workspace: Workspace) -> None:
    process = await launch(workspace, "echo hello; read word; echo got $word >&2; exit 3")
    assert (process.name, list(workspace.live)) == ("p1", ["p1"])
    assert await read_until(process, "hello") == "hello\n"
    await process.write("one\n")
    sight = await read_to_end(process)
    assert sight.output == "got one\n"
    assert sight.end is not None
    assert sight.end.exit_code == 3
    again = await process.read(5)
    assert (again.output, again.end) == ("", sight.end)
    with pytest.raises(WorkspaceError, match="p1 accepts no more input"):
        await process.write("two\n")


async def test_the_end_of_input_is_sent_as_its_character(workspace: Workspace) -> None:
    process = await launch(workspace, "wc -c")
    await process.write("12345")
    await process.write("67\n\x04")
    assert (await read_to_end(process)).output.strip() == "8"


async def test_a_terminal_is_real_and_has_a_size(workspace: Workspace) -> None:
    process = await launch(
        workspace, "tty; stty size; read word </dev/tty; echo got $word; cat; echo $TERM", in_terminal=True
    )
    first = await read_until(process, "40 120")
    assert "/dev/pts/" in first
    await process.write("yes\n")
    await read_until(process, "got yes")
    await process.write("\x04")
    sight = await read_to_end(process)
    assert sight.output.strip().endswith("xterm-256color")
    assert sight.end is not None
    assert sight.end.exit_code == 0


@pytest.fixture
def heeded() -> Generator[None]:
    """React to Ctrl+C: a background process may ignore the signal, and so would everything that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
async def test_a_terminal_passes_its_signals(workspace: Workspace) -> None:
    # Not a loop of short commands: a shell whose command has just exited takes the signal for that command's.
    line = "trap 'echo caught; exit 5' INT; echo ready; read -r line"
    process = await launch(workspace, line, in_terminal=True)
    await read_until(process, "ready")
    said, sight = "", OutputSnapshot("", None)
    with anyio.fail_after(60):
        while sight.end is None:
            if "caught" not in said:  # A shell may miss a signal that arrives just before it waits.
                with suppress(WorkspaceError):  # It has just ended.
                    await process.write("\x03")
            sight = await process.read(1)
            said += sight.output
    assert "caught" in said
    assert sight.end.exit_code == 5


FAMILIES = {
    "plain": "echo $$ ready; sleep 1000; echo",
    "ignores SIGTERM": "trap '' TERM; echo $$ ready; while :; do sleep 1000; done",
    "daemon": "nohup setsid sh -c 'trap \"\" TERM; echo $$ ready; sleep 1000; echo' & sleep 1000; echo",
    "nameless": "env -i setsid sh -c 'echo $$ ready; sleep 1000; echo' & sleep 1000; echo",
}


@pytest.mark.parametrize("ending", ["kill", "close"])
@pytest.mark.parametrize("line", FAMILIES.values(), ids=FAMILIES.keys())
async def test_nothing_remains_of_a_process_tree(workspace: Workspace, line: str, ending: str) -> None:
    process = await launch(workspace, line)
    pid = int((await read_until(process, "ready")).split()[-2])
    assert is_running(pid)
    with anyio.fail_after(60):
        await (process.kill() if ending == "kill" else workspace.close())
    assert not is_running(pid)
    assert (await process.read(0)).end is not None


async def test_processes_left_by_a_finished_command_end_when_the_workspace_closes(
    workspace: Workspace,
) -> None:
    process = await launch(workspace, "sleep 1000 >/dev/null 2>&1 & echo $!")
    pid = int((await read_to_end(process)).output)
    assert is_running(pid)
    await workspace.close()
    assert not is_running(pid)


async def test_a_nameless_orphan_ends_when_the_workspace_closes(workspace: Workspace) -> None:
    orphan = "(env -i setsid sh -c 'echo $$ >me; exec sleep 1000 >/dev/null 2>&1' &)"
    process = await launch(workspace, f"{orphan}; until [ -s me ]; do sleep 0.01; done; cat me")
    pid = int((await read_to_end(process)).output)
    assert is_running(pid)
    await workspace.close()
    assert not is_running(pid)


async def test_a_cancelled_poll_loses_nothing(workspace: Workspace) -> None:
    process = await launch(workspace, "read word; echo $word")
    with anyio.move_on_after(0.05):
        await process.read(600)
    await process.write("kept\n")
    assert (await read_to_end(process)).output == "kept\n"


async def test_long_output_keeps_beginning_and_end_and_can_be_read_completely(workspace: Workspace) -> None:
    process = await launch(workspace, "seq 1 200000; echo done; touch up; sleep 1000")
    with anyio.fail_after(60):
        while not os.path.exists(f"{workspace.cwd}/up"):  # Far more than one poll shows was printed by then.
            await anyio.sleep(0.01)
    said = await read_until(process, "done\n")
    path = said.partition("can be read in ")[2].split()[0]
    content = await workspace.read(workspace.locate(path))
    assert content is not None
    assert content.splitlines()[199_999] == b"200000"
    assert os.stat(path).st_mode & 0o777 == 0o600
    with pytest.raises(OutsideRoots):
        await workspace.write(path, b"x")
    with pytest.raises(OutsideRoots):
        workspace.locate(os.path.dirname(os.path.dirname(path)))


async def test_a_process_that_does_not_read_is_reported(workspace: Workspace) -> None:
    process = await launch(workspace, "sleep 1000")
    with pytest.raises(WorkspaceError, match="does not read its input"):
        await process.write("x" * 300_000)


async def test_the_number_of_processes_is_limited(workspace: Workspace) -> None:
    for _ in range(MAX_RUNNING):
        await launch(workspace, "sleep 1000")
    with pytest.raises(WorkspaceError, match=f"{MAX_RUNNING} processes are running: p1, p2"):
        await launch(workspace, "sleep 1000")
    await workspace.live["p3"].kill()
    assert (await launch(workspace, "sleep 1000")).name == f"p{MAX_RUNNING + 1}"


async def test_descriptors_and_threads_are_released(workspace: Workspace) -> None:
    async def once(*, in_terminal: bool) -> None:
        await read_to_end(await launch(workspace, "echo x", in_terminal=in_terminal))

    await once(in_terminal=False)
    await once(in_terminal=True)
    before = len(os.listdir("/proc/self/fd"))
    for number in range(20):
        await once(in_terminal=bool(number % 2))
    with anyio.fail_after(60):
        while any(thread.name.startswith("drain-") for thread in threading.enumerate()):
            await anyio.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) <= before
    assert len(workspace.live) == 22


async def test_a_missing_folder_is_reported(workspace: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="Could not run a command"):
        await workspace.launch(Command("true", f"{workspace.cwd}/missing", 1))
    with pytest.raises(WorkspaceError, match="Could not run a command"):
        await workspace.launch(Command("true", f"{workspace.cwd}/missing", 1), in_terminal=True)
