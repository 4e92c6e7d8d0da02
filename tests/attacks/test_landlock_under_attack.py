"""Commands that try to reach other processes, local sockets and folders without namespaces in between."""

import os
import socket
import subprocess
import tty
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.core.proposals import Confinement
from hermes_acp.workspaces.command_environment import command_environment
from hermes_acp.workspaces.processes.process_spawn import ShellCommand, start
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry
from hermes_acp.workspaces.sandbox.command_sandbox import Sandbox
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import SandboxMechanism, detect_landlock
from tests.attacks.sandboxes import WAYS, require, sandboxed, usual_bounds

pytestmark = pytest.mark.anyio

PYTHON = "/usr/bin/python3"
LIMIT = "import resource; resource.prlimit({0}, resource.RLIMIT_NOFILE, (77, 77))"
SEND = "import socket; socket.socketpair(socket.AF_UNIX, {0})[0].sendto(b'x', {1!r})"
PAIRS = "import socket; a, b = socket.socketpair(); a.send(b'hi'); print(b.recv(2).decode())"


@contextmanager
def listening(address: str) -> Generator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address)
        listener.setblocking(False)
        yield listener


@pytest.mark.parametrize("way", WAYS)
async def test_no_command_sets_limits_for_another_process(tmp_path: Path, way: SandboxMechanism) -> None:
    async with sandboxed(tmp_path, way) as box:
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
            end = await box.run(f'{PYTHON} -c "{LIMIT.format(other.pid)}"')
            limits = Path(f"/proc/{other.pid}/limits").read_text()
        (line,) = [each for each in limits.splitlines() if each.startswith("Max open files")]
        assert end.exit_code != 0
        assert "77" not in line.split()
        end = await box.run(f'{PYTHON} -c "{LIMIT.format(0)}" && ulimit -n 88 && ulimit -n')
        assert end.output == "88\n"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["socket.SOCK_DGRAM", "socket.SOCK_RAW", "2 | socket.SOCK_CLOEXEC"])
@pytest.mark.parametrize("has_network", [False, True])
async def test_one_end_of_a_socket_pair_reaches_no_socket_of_the_machine(
    tmp_path: Path, way: SandboxMechanism, kind: str, *, has_network: bool
) -> None:
    name = f"\0hermes-{os.urandom(6).hex()}"
    async with sandboxed(tmp_path, way, usual_bounds(has_network=has_network)) as box:
        with listening(str(box.outside / "log")) as log, listening(name) as unnamed:
            for address in (str(box.outside / "log"), name):
                script = box.folder / "send.py"
                script.write_text(SEND.format("KIND", address).replace("KIND", kind))
                await box.run(f"{PYTHON} send.py")
            for listener in (log, unnamed):
                with pytest.raises(BlockingIOError):
                    listener.recv(1)
        end = await box.run(f'{PYTHON} -c "{PAIRS}"')
        assert end.output == "hi\n"


def test_a_link_that_replaces_a_folder_just_before_the_start_grants_nothing(tmp_path: Path) -> None:
    """Access is settled when a command is prepared; a moment later, a background process swaps a folder."""
    require("landlock", detect_landlock({}, ()))
    folder, outside = tmp_path / "project", tmp_path / "outside"
    (folder / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "canary").write_text("canary-bytes")
    (folder / ".git").mkdir()
    surroundings = {"PATH": os.defpath, "TMPDIR": str(tmp_path)}
    variables = command_environment(surroundings)
    root = str(folder.resolve())
    sandbox = Sandbox((root,), lambda: variables, usual_bounds, lambda ip: False, find=detect_landlock)
    line = f"cat {outside}/canary; echo x > {outside}/made; echo done"
    shell = ShellCommand(("/bin/sh", "-c", line), root, variables, "mark-0", 30)
    try:
        confined = sandbox.confine(shell, ProcessRegistry())
        (folder / "sub").rename(folder / "gone")
        (folder / "sub").symlink_to(outside)
        reading, writing = os.pipe()
        process = start(confined.shell, os.open(os.devnull, os.O_RDONLY), writing)
        os.close(writing)
        process.wait()
        with open(reading) as output:
            said = output.read()
    finally:
        sandbox.close()
    assert "done" in said
    assert "canary-bytes" not in said
    assert os.listdir(outside) == ["canary"]


@contextmanager
def terminal() -> Generator[tuple[int, str]]:
    """Open a terminal like a user's; yield its output and its path."""
    seen, theirs = os.openpty()
    os.set_blocking(seen, False)
    tty.setraw(theirs)
    try:
        yield seen, os.ttyname(theirs)
    finally:
        os.close(seen)
        os.close(theirs)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("confinement", ["must", "read_only"])
async def test_the_terminals_of_the_machine_cannot_be_read_or_written(
    tmp_path: Path, way: SandboxMechanism, confinement: Confinement
) -> None:
    async with sandboxed(tmp_path, way) as box:
        with terminal() as (seen, path):
            os.write(seen, b"typed-canary\n")
            lines = (
                f"timeout 2 cat {path}; timeout 2 head -c 5 < {path}",
                f"echo seen > {path}; printf '\\033]52;c;eA==\\a' >> {path}; stty -F {path} -echo",
                f"{PYTHON} -c \"import fcntl, os; fcntl.ioctl(os.open('{path}', 2), 0x5412, b'x')\"",
                f'{PYTHON} -c "import os; os.setsid()"; timeout 2 setsid sh -c "cat < {path}; cat < /dev/tty"',
            )
            for line in lines:
                end = await box.run(line, confinement=confinement)
                assert "typed" not in end.output
            with pytest.raises(BlockingIOError):
                os.read(seen, 100)


async def test_a_command_in_its_own_terminal_can_open_it(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "landlock") as box:
        line = "echo to the terminal > /dev/tty; sh -c 'read -r word < /dev/tty; echo got $word'"
        process = await box.workspace.launch(Command(line, str(box.folder), 60, "must"), in_terminal=True)
        await process.write("hello\n")
        said = ""
        with anyio.fail_after(60):
            while not (found := await process.read(5)).end:
                said += found.output
        said += found.output
        assert "to the terminal" in said
        assert "got hello" in said


@pytest.mark.parametrize("way", WAYS)
async def test_no_priority_is_set_for_processes_of_the_machine(tmp_path: Path, way: SandboxMechanism) -> None:
    async with sandboxed(tmp_path, way) as box:
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
            before = os.getpriority(os.PRIO_PROCESS, other.pid)
            await box.run(
                f"renice 19 -p {other.pid}; renice 19 -u $(id -u); ionice -c3 -p {other.pid}; "
                f"chrt -i -p 0 {other.pid}; taskset -p 1 {other.pid}"
            )
            assert os.getpriority(os.PRIO_PROCESS, other.pid) == before
            assert os.sched_getscheduler(other.pid) == os.SCHED_OTHER
            assert os.sched_getaffinity(other.pid) == os.sched_getaffinity(0)
        assert (await box.run("nice -n 5 nice")).output == "5\n"


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_is_scheduled_to_run_later(tmp_path: Path, way: SandboxMechanism) -> None:
    """Whether or not a scheduler exists: its lists are inaccessible, and so is its socket."""
    places = (
        "/var/spool/cron",
        "/var/spool/cron/crontabs",
        "/var/spool/at",
        "/etc/cron.d",
        "/etc/cron.daily",
    )
    places += (
        "/etc/systemd/system",
        "/run/systemd/system",
        "/run/systemd/transient",
        "/etc/init.d",
        "/etc/profile.d",
    )
    async with sandboxed(tmp_path, way) as box:
        line = "; ".join(f"mkdir -p {each}; echo x > {each}/hermes-escape" for each in places)
        await box.run(line)
        assert not any(Path(each, "hermes-escape").exists() for each in places)
        end = await box.run(
            "systemd-run --user true && echo reached; systemd-run true && echo reached; "
            "busctl --user list && echo reached; echo true | at now && echo reached; "
            "echo '* * * * * true' | crontab - && echo reached"
        )
        assert "reached" not in end.output
