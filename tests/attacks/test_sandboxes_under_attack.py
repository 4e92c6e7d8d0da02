"""Attempts of sandboxed commands to escape, all without success."""

import os
import socket
import subprocess
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.workspaces.processes.process_table import list_processes
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import SandboxMechanism
from tests.attacks.sandboxes import WAYS, Report, Sandboxed, sandboxed, usual_bounds

pytestmark = pytest.mark.anyio
PYTHON = "/usr/bin/python3"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=WAYS)
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Sandboxed]:
    async with sandboxed(tmp_path, request.param) as opened:
        yield opened


@contextmanager
def listening(family: socket.AddressFamily, address: str | tuple[str, int]) -> Generator[list[bytes]]:
    """Listen, and record what is received."""
    heard: list[bytes] = []
    server = socket.socket(family)
    server.bind(address)
    server.listen()

    def listen() -> None:
        while True:
            try:
                visitor, _ = server.accept()
            except OSError:
                return
            heard.append(b"visited")
            visitor.close()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield heard
    finally:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(5)


CALLS = {
    "curl": "curl -sS -m 5 http://127.0.0.1:{port}/",
    "bash": "exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached >&3",
    "python": "{python} -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'",
    "IPv6": "{python} -c 'import socket; socket.create_connection((\"::1\", {port}), 5)'",
    "outside": "{python} -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 5)'",
    "names": "getent hosts example.com",
    "UDP": '{python} -c \'import socket; s = socket.socket(2, 2); s.sendto(b"x", ("192.0.2.1", 53))\'',
    "raw": "{python} -c 'import socket; socket.socket(2, socket.SOCK_RAW, 1)'",
    "packets": "{python} -c 'import socket; socket.socket(17, socket.SOCK_RAW, 3)'",
    "the hypervisor": "{python} -c 'import socket; socket.socket(40, 1).connect((2, 1))'",
    "crypto": "{python} -c 'import socket; socket.socket(38, 5)'",
    "abstract socket": "{python} -c 'import socket; socket.socket(1).connect(\"\\0{name}\")'",
    "socket of a file": "{python} -c 'import socket; socket.socket(1).connect(\"{path}\")'",
    "io_uring": "{python} -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(425, 1, 0) < 0)'",
}


@pytest.mark.parametrize("call", CALLS)
async def test_c02_nothing_outside_is_reachable(box: Sandboxed, call: str) -> None:
    name = f"hermes-test-{os.getpid()}-{len(call)}"
    path = str(box.outside / "s")
    with (
        listening(socket.AF_INET, ("127.0.0.1", 0)) as at_port,
        listening(socket.AF_UNIX, f"\0{name}") as at_name,
        listening(socket.AF_UNIX, path) as at_path,
        socket.socket() as probe,
    ):
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        end = await box.run(CALLS[call].format(port=port, python=PYTHON, name=name, path=path))
    assert end.exit_code != 0, end.output
    assert (at_port, at_name, at_path) == ([], [], [])


async def test_c02_a_server_on_this_machine_is_not_reached(box: Sandboxed) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    with server:
        server.settimeout(0.2)
        end = await box.run(f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo reached")
        with pytest.raises(TimeoutError):
            server.accept()
    assert "reached" not in end.output


@pytest.mark.parametrize("way", WAYS)
async def test_with_a_network_local_sockets_are_still_unreachable(
    tmp_path: Path, way: SandboxMechanism
) -> None:
    name = f"hermes-test-net-{os.getpid()}"
    async with sandboxed(tmp_path, way, usual_bounds(has_network=True)) as box:
        with (
            listening(socket.AF_UNIX, f"\0{name}") as at_name,
            socket.create_server(("127.0.0.1", 0)) as server,
        ):
            port = server.getsockname()[1]
            reached = await box.run(CALLS["bash"].format(port=port))
            abstract = await box.run(CALLS["abstract socket"].format(python=PYTHON, name=name))
    assert reached.exit_code == 0
    assert abstract.exit_code != 0
    assert at_name == []


async def test_system_sockets_do_not_exist(box: Sandboxed) -> None:
    sockets = (
        "/var/run/docker.sock /run/docker.sock /run/user/0/bus /run/dbus/system_bus_socket /tmp/.X11-unix/X0"
    )
    script = (
        "import socket, sys\n"
        f"for path in '{sockets}'.split():\n"
        "    try: socket.socket(1).connect(path); sys.exit(f'reached {path}')\n"
        "    except OSError: pass\n"
    )
    (box.folder / "try.py").write_text(script)
    assert (await box.run(f"{PYTHON} try.py")).exit_code == 0


async def test_the_environment_names_no_socket_and_no_secret(tmp_path: Path) -> None:
    given = {
        "SSH_AUTH_SOCK": "/tmp/agent",
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus",
        "DOCKER_HOST": "unix:///run/docker.sock",
        "XDG_RUNTIME_DIR": "/run/user/0",
        "DISPLAY": ":0",
        "OPENAI_API_KEY": "sk-canary",
        "SOMETHING_ELSE": "canary",
        "LANG": "C.UTF-8",
    }
    async with sandboxed(tmp_path, "bubblewrap", given=given) as box:
        names = {line.partition("=")[0] for line in (await box.run("env")).output.splitlines()}
        seen = await box.run("cat /proc/*/environ | tr '\\0' '\\n'")
    assert "LANG" in names
    assert names.isdisjoint(set(given) - {"LANG"})
    assert "canary" not in seen.output


WRITES = {
    "beside": "echo x > {outside}/new",
    "over": "echo x > {outside}/canary",
    "by a link": "ln -s {outside} out && echo x > out/new",
    "by a file link": "ln -s {outside}/canary c && echo x > c",
    "by a hard link": "ln {outside}/canary hard && echo x > hard",
    "by a descriptor": "echo x > /proc/self/cwd/../outside/new",
    "by the root of another": "echo x > /proc/1/root{outside}/new",
    "by itself": "cp /bin/true t; cat /dev/null > /proc/self/exe",
    "the system": "echo x > /usr/bin/hermes-test; echo x >> /etc/hosts; echo x > /etc/cron.d/x",
    "mounting": "mount --bind {outside} . || mount -t tmpfs none /usr",
    "namespaces": "unshare -Ur sh -c 'echo x > {outside}/new'",
    "chroot": "chroot / sh -c 'echo x > {outside}/new'",
    "a device": "mknod d b 254 0 && echo x > d",
    "kernel": "echo x > /proc/sys/kernel/core_pattern; echo b > /proc/sysrq-trigger; echo x > /sys/power/state",
    "home": "echo x > {outside}/../home/.bashrc && cat {outside}/canary",
}


@pytest.mark.parametrize("write", WRITES)
async def test_nothing_outside_is_changed(box: Sandboxed, write: str) -> None:
    before = {
        name: Path(name).read_bytes()
        for name in ("/etc/hosts", "/etc/passwd", "/proc/sys/kernel/core_pattern")
    }
    end = await box.run(WRITES[write].format(outside=box.outside))
    assert end.exit_code != 0, end.output
    assert os.listdir(box.outside) == ["canary"]
    assert (box.outside / "canary").read_text() == "canary-bytes"
    assert os.listdir(box.outside.parent / "home") == []
    assert {name: Path(name).read_bytes() for name in before} == before
    assert not os.path.exists("/usr/bin/hermes-test")


async def test_files_outside_cannot_be_read(box: Sandboxed) -> None:
    (box.folder / "link").symlink_to(box.outside / "canary")
    end = await box.run(
        f"cat {box.outside}/canary link ../outside/canary; cat /etc/shadow; grep -r bytes {box.outside}"
    )
    assert "canary-bytes" not in end.output
    assert "root:" not in end.output
    assert end.exit_code != 0


async def test_ordinary_work_inside_continues(box: Sandboxed) -> None:
    (box.folder / "src").mkdir()
    end = await box.run(
        "echo a > src/a && mkdir src/b && mv src/a src/b/c && cat src/b/c && touch $(mktemp) && git status"
    )
    assert end.exit_code == 0, end.output
    assert (box.folder / "src/b/c").read_text() == "a\n"


@pytest.mark.parametrize("way", WAYS)
async def test_work_continues_in_the_second_temporary_folder(way: SandboxMechanism) -> None:
    with TemporaryDirectory(dir="/var/tmp") as place:
        async with sandboxed(Path(place).resolve(), way) as box:
            (box.folder / "src").mkdir()
            end = await box.run("echo a > src/a && cat src/a && touch $(mktemp)")
            assert end.exit_code == 0, end.output
            assert (box.folder / "src/a").read_text() == "a\n"


GUARDED = {
    "hooks": "echo x > .git/hooks/pre-commit",
    "hooks anew": "rm -rf .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-commit",
    "config": "git config core.fsmonitor evil",
    "config by hand": "echo '[core] fsmonitor = evil' >> .git/config",
    "the repository elsewhere": "mv .git moved && mkdir .git && echo x > .git/config",
    "the common folder": "rm -f .git/commondir; echo ../evil > .git/commondir",
    "tasks": "mkdir -p .vscode && echo {} > .vscode/tasks.json",
    "tasks by a prepared folder": "mkdir made && touch made/tasks.json && mv -T made .vscode",
    "settings": "echo x >> .claude/settings.json",
    "servers": "echo {} > .mcp.json",
    "environment": "echo evil > .envrc",
    "a link for it": "ln -s /tmp .cursor && touch .cursor/rules",
    "a nested repository": "echo x > nested/.git/hooks/pre-commit",
    "a nested one elsewhere": "mv nested n2 && mkdir -p nested/.git/hooks && echo x > nested/.git/hooks/pre-commit",
}


@pytest.mark.parametrize("line", GUARDED.values(), ids=GUARDED.keys())
async def test_a15_a16_files_that_run_later_cannot_be_written(box: Sandboxed, line: str) -> None:
    (box.folder / ".claude").mkdir()
    (box.folder / ".claude" / "settings.json").write_text("{}")
    (box.folder / "nested/.git/hooks").mkdir(parents=True)
    config = (box.folder / ".git/config").read_bytes()
    end = await box.run(f"set -e; git --version; {line}")
    assert end.exit_code != 0, end.output
    await box.workspace.close()
    assert (box.folder / ".git/config").read_bytes() == config
    assert (box.folder / ".claude/settings.json").read_text() == "{}"
    assert os.listdir(box.folder / "nested/.git/hooks") == []
    assert not (box.folder / ".git/hooks/pre-commit").exists()
    assert not (box.folder / ".git/commondir").exists()
    for name in (".vscode", ".mcp.json", ".envrc", ".cursor"):
        assert not os.path.lexists(box.folder / name)


async def test_a15_work_tree_settings_cannot_be_written(box: Sandboxed) -> None:
    """If a repository says so, git reads one more file, which is missing at first."""
    subprocess.run(["git", "-C", str(box.folder), "config", "extensions.worktreeConfig", "true"], check=True)
    for line in ("echo '[core] fsmonitor = evil' > .git/config.worktree", "mv -T src/x .git/config.worktree"):
        (box.folder / "src").mkdir(exist_ok=True)
        (box.folder / "src/x").write_text("[core] fsmonitor = evil\n")
        assert (await box.run(f"git --version && {line}")).exit_code != 0
    assert (await box.run("git status")).exit_code == 0
    await box.workspace.close()
    assert not os.path.lexists(box.folder / ".git/config.worktree")


async def test_a_concurrent_sandbox_keeps_the_placeholders(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap") as box:
        report = Report()
        async with anyio.create_task_group() as group:
            group.start_soon(box.run, "echo ready; sleep 1000; true", 600, report)
            await report.seen("ready")
            assert (await box.run("mkdir .vscode/x")).exit_code != 0
            assert (await box.run("echo {} > .vscode/x")).exit_code != 0
            group.cancel_scope.cancel()
    assert not (box.folder / ".vscode").exists()


async def test_git_works_where_its_settings_are_protected(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap") as box:
        who = "-c user.name=a -c user.email=a@b.c"
        end = await box.run(
            f"echo 1 > f && git add -A && git {who} commit -qm one && git checkout -qb x && git status -s && git log"
        )
    assert end.exit_code == 0, end.output
    assert "one" in end.output
    assert ".vscode" not in end.output


async def test_f01_a_fork_bomb_is_limited(tmp_path: Path) -> None:
    bounds = usual_bounds(max_processes=64)
    async with sandboxed(tmp_path, "bubblewrap", bounds) as box:
        report = Report()
        most = 0
        async with anyio.create_task_group() as group:
            group.start_soon(box.run, "b() { echo forked; b | b & }; b; sleep 1000", 600, report)
            await report.seen("forked")
            for _ in range(20):
                most = max(most, sum(_is_inside_of(pid, box.folder) for pid in list_processes()))
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()
        assert (await box.run("echo alive")).output == "alive\n"
    assert 0 < most <= 64


async def test_f04_memory_is_limited(box: Sandboxed) -> None:
    end = await box.run(f"{PYTHON} -c 'a = \"x\" * 10**11'")
    assert end.exit_code != 0
    assert "MemoryError" in end.output


async def test_f05_file_size_can_be_limited(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap", usual_bounds(file_bytes=1 << 20)) as box:
        end = await box.run("mkdir d; head -c 5000000 /dev/zero > d/big")
        assert end.exit_code != 0
        assert (box.folder / "d/big").stat().st_size == 1 << 20


ORPHANS = {
    "nameless": "env -i setsid sh -c 'echo ready $$; sleep 1000; echo' & sleep 1000",
    "twice away": "(setsid sh -c 'setsid env -i sh -c "
    '"trap : TERM HUP; echo ready; while :; do sleep 1000; done" &\' &); sleep 1000',
}


@pytest.mark.parametrize("orphan", ORPHANS)
@pytest.mark.parametrize("end", ["time is up", "cancelled", "ends"])
async def test_f03_no_process_outlives_the_command(tmp_path: Path, orphan: str, end: str) -> None:
    async with sandboxed(tmp_path, "bubblewrap") as box:
        line = ORPHANS[orphan]
        if end == "ends":
            assert (await box.run(line.removesuffix("sleep 1000") + "sleep 0.2")).exit_code == 0
        elif end == "cancelled":
            report = Report()
            async with anyio.create_task_group() as group:
                group.start_soon(box.run, line, 30, report)
                await report.seen("ready")
                group.cancel_scope.cancel()
        else:
            assert (await box.run(line, 1)).timed_out
    assert [pid for pid in list_processes() if _is_inside_of(pid, box.folder)] == []


def _is_inside_of(pid: int, folder: Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(folder)
    except OSError:
        return False


async def test_processes_of_the_machine_are_invisible(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap") as box:
        pids = (await box.run("ls /proc | grep -c '^[0-9]'; ls -d /proc/[0-9]*")).output
        assert f"/proc/{os.getpid()}\n" not in pids
        assert (await box.run(f"kill -9 {os.getpid()}")).exit_code != 0


async def test_processes_of_the_machine_cannot_be_signalled_under_landlock(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "landlock") as box:
        for line in (
            f"kill -0 {os.getpid()}",
            f"cat /proc/{os.getppid()}/environ",
            f"ls /proc/{os.getppid()}/fd/0",
        ):
            assert (await box.run(line)).exit_code != 0, line


async def test_a_launched_process_and_its_terminal_are_confined(box: Sandboxed) -> None:
    command = Command(
        f"tty; cat {box.outside}/canary; echo x > {box.outside}/new; echo done", str(box.folder), 1, "must"
    )
    for in_terminal in (False, True):
        process = await box.workspace.launch(command, in_terminal=in_terminal)
        said = ""
        with anyio.fail_after(60):
            while "done" not in said:
                said += (await process.read(5)).output
        assert "canary-bytes" not in said
        assert ("not a tty" in said) is not in_terminal
    assert os.listdir(box.outside) == ["canary"]


async def test_without_a_sandbox_nothing_runs_that_needs_one(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap", usual_bounds(when="off")) as box:
        with pytest.raises(WorkspaceError, match="turned off"):
            await box.run("touch ran")
        assert not (box.folder / "ran").exists()


@pytest.mark.parametrize("way", WAYS)
async def test_a_failure_caused_by_the_sandbox_is_explained(tmp_path: Path, way: SandboxMechanism) -> None:
    async with sandboxed(tmp_path, way) as box:
        assert "unsandboxed: true" in (await box.run("echo x > /usr/x")).output
        assert "unsandboxed" not in (await box.run("exit 3")).output
