"""When an agent is killed, its commands end too, whatever they did to escape."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from hermes_acp.workspaces.processes.orphan_reaper import OrphanReaper
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import detect_sandbox
from tests.e2e.agent_process import WAIT_S, wait_for_end, watch_process

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

AGENT = """
import os, sys
import anyio
from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.workspaces.backends.local import BACKEND

class Report:
    def output(self, text):
        os.write(1, text.encode())

async def main():
    folder = sys.argv[1]
    workspace = BACKEND.open(folder, (folder,), {"PATH": os.defpath})
    async with anyio.create_task_group() as tasks:
        for line in sys.argv[2:]:
            tasks.start_soon(workspace.run, Command(line, folder, 600), Report())

anyio.run(main)
"""
CONFINED_AGENT = AGENT.replace("600)", '600, "must")').replace(
    "os.defpath}", 'os.defpath, "TMPDIR": folder + "/../tmp"}'
)
DYING = """
import os, signal, sys
from hermes_acp.workspaces.processes.orphan_reaper import OrphanReaper

watch = OrphanReaper("SOME_MARK")
watch.begin()
kept, struck = map(int, sys.argv[1:])
for group in (kept, struck):
    watch.register_process(group)
watch.forget_process(kept)
os.kill(os.getpid(), signal.SIGKILL)
"""
PLAIN = 'echo "pid $$"; sleep 1000; true'
BACKGROUND = 'sleep 1000 >/dev/null 2>&1 & echo "pid $!"'
OTHER_SESSION = "setsid sh -c 'echo \"pid $$\"; exec sleep 1000' & wait"
WITHOUT_MARK = "exec env -i /bin/sh -c 'echo \"pid $$\"; exec sleep 1000'"
NAMELESS = "env -i setsid sh -c 'echo \"pid $$\"; exec sleep 1000' & wait"
NAMELESS_ORPHAN = (
    "(env -i setsid sh -c 'echo \"pid $$\" >orphan; exec sleep 1000' &); "
    "until [ -s orphan ]; do sleep 0.01; done; cat orphan"
)
STUBBORN = 'trap "" TERM; echo "pid $$"; while true; do sleep 1000; done'


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_every_command_ends_with_a_killed_agent(tmp_path: Path) -> None:
    lines = (PLAIN, BACKGROUND, OTHER_SESSION, WITHOUT_MARK, NAMELESS, NAMELESS_ORPHAN, STUBBORN)
    with anyio.fail_after(WAIT_S):
        agent = await anyio.open_process(
            [sys.executable, "-c", AGENT, str(tmp_path.resolve()), *lines], stdout=subprocess.PIPE
        )
        async with agent:
            assert agent.stdout
            reported = b""
            while reported.count(b"\n") < len(lines):
                reported += await agent.stdout.receive()
            ends = [watch_process(int(number)) for number in reported.split() if number.isdigit()]
            assert len(ends) == len(lines)
            agent.send_signal(signal.SIGKILL)
            for end in ends:
                await wait_for_end(end)


@pytest.mark.skipif(
    detect_sandbox({"PATH": os.defpath}, ()).way != "bubblewrap", reason="bubblewrap does not work here"
)
async def test_a_sandbox_ends_with_a_killed_agent_and_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "a project"
    folder.mkdir()
    (tmp_path / "tmp").mkdir()
    lines = [
        f"mkdir {name}; cd {name}; {line}"
        for name, line in zip("abc", (PLAIN, NAMELESS, STUBBORN), strict=True)
    ]
    with anyio.fail_after(WAIT_S):
        agent = await anyio.open_process(
            [sys.executable, "-c", CONFINED_AGENT, str(folder), *lines], stdout=subprocess.PIPE
        )
        async with agent:
            assert agent.stdout
            reported = b""
            while reported.count(b"\n") < len(lines):
                reported += await agent.stdout.receive()
            ends = [watch_process(pid) for pid in processes_in(folder)]
            assert len(ends) >= len(lines)
            assert (folder / ".envrc").is_dir()
            agent.send_signal(signal.SIGKILL)
            for end in ends:
                await wait_for_end(end)
            while os.listdir(tmp_path / "tmp") or sorted(os.listdir(folder)) != sorted("abc"):
                await anyio.sleep(0.02)


def processes_in(folder: Path) -> list[int]:
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if os.readlink(f"/proc/{name}/cwd").startswith(str(folder)):
                found.append(int(name))
    return found


async def test_running_processes_are_left_alone_while_the_agent_lives_and_after_release() -> None:
    watch = OrphanReaper("SOME_MARK")
    watch.begin()
    with anyio.fail_after(WAIT_S):
        async with await anyio.open_process(
            ["sleep", "1000"], env={"SOME_MARK": watch.mark, "PATH": os.defpath}, start_new_session=True
        ) as sleeper:
            watch.register_process(sleeper.pid)
            watch.close()
            watch.close()
            assert sleeper.returncode is None
            os.kill(sleeper.pid, signal.SIGKILL)
            assert await sleeper.wait() == -signal.SIGKILL


async def test_a_process_group_that_has_ended_is_not_killed() -> None:
    """Its process ID may have been reused by the time the agent dies."""
    with anyio.fail_after(WAIT_S):
        async with (
            await anyio.open_process(["sleep", "1000"], start_new_session=True) as kept,
            await anyio.open_process(["sleep", "1000"], start_new_session=True) as struck,
        ):
            await anyio.run_process(
                [sys.executable, "-c", DYING, str(kept.pid), str(struck.pid)], check=False
            )
            assert await struck.wait() == -signal.SIGTERM
            assert kept.returncode is None
            kept.kill()
