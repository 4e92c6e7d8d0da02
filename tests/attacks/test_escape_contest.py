"""The escape contest: a hundred commands try to escape each kind of sandbox.

They must not read a canary of the machine or a secret of the workspace, reach a socket, change anything outside, leave
a file with another user's privileges, or leave behind anything that a program started later would run.
"""

import ctypes
import os
import socket
import stat
import subprocess
import tomllib
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from msgspec import Struct

from hermes_acp.core.proposals import Confinement
from hermes_acp.policy.sensitive_names import is_protected
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import SandboxMechanism
from hermes_acp.workspaces.sandbox.sandbox_mounts import is_placeholder
from tests.attacks.sandboxes import Sandboxed, sandboxed

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
ATTEMPTS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("escape_attempts.toml").read_text()
)
CANARY, SECRET = "canary-bytes", "secret-bytes"
SHM_KEY = 0x4E5C + os.getpid()
NAME = f"hermes-escape-{os.getpid()}"
STRAY = "rights of what is outside"
"""Landlock protects file contents but not metadata; see `docs/sandbox.md`."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class ListeningSockets(Struct):
    """Sockets of the machine that must be out of reach."""

    port: int
    streams: list[socket.socket]
    posts: list[socket.socket]

    def reached_sockets(self) -> list[str]:
        """Return which of them were reached."""
        found: list[str] = []
        for each in self.streams:
            with suppress(BlockingIOError):
                each.accept()[0].close()
                found.append(str(each.getsockname()))
        for each in self.posts:
            with suppress(BlockingIOError):
                each.recv(9)
                found.append(str(each.getsockname()))
        return found


@contextmanager
def listening_sockets(folder: Path) -> Generator[ListeningSockets]:
    """Listen on a port, on a socket without a path, and on paths in the workspace."""
    (folder / "run").mkdir()
    with ExitStack() as open_ones:
        given = [
            (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "door")),
            (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "run/door")),
            (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{NAME}"),
            (socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "post")),
        ]
        made: list[socket.socket] = []
        for family, kind, address in given:
            each = open_ones.enter_context(socket.socket(family, kind))
            each.bind(address)
            each.setblocking(False)
            if kind == socket.SOCK_STREAM:
                each.listen()
            made.append(each)
        port = int(made[0].getsockname()[1])
        post = open_ones.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        post.bind(("127.0.0.1", port))
        post.setblocking(False)
        yield ListeningSockets(port, made[:4], [made[4], post])


@contextmanager
def canaries(outside: Path) -> Generator[int]:
    """Place canaries on the machine: in shared memory, in temporary folders, and in a process, whose ID is given."""
    files = [Path("/tmp", NAME), Path("/dev/shm", NAME)]
    for each in files:
        each.write_text(CANARY)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(SHM_KEY, 4096, 0o1600)
    place = libc.shmat(segment, None, 0)
    ctypes.memmove(place, CANARY.encode(), len(CANARY))
    with (outside / "canary").open() as held:
        process = subprocess.Popen(
            ["sleep", "600"], cwd=outside, env={"PATH": os.defpath, "SECRET": CANARY}, stdin=held
        )
        try:
            yield process.pid
        finally:
            is_alive = process.poll() is None
            process.kill()
            process.wait()
            libc.shmctl(segment, 0, None)
            for each in files:
                each.unlink()
    assert is_alive
    assert not any(Path(place, "hermes-escape").exists() for place in ("/etc", "/usr/local/bin", "/opt"))
    assert Path("/proc/sys/kernel/core_pattern").read_text() != "|/bin/sh\n"


def prepare(folder: Path) -> None:
    """Create a small project with secrets that are not in git."""
    for name, text in {
        "src/x.py": "x = 1\n",
        "test_x.py": "def test_x():\n    assert True\n",
        "Makefile": "all:\n\techo made\n",
        "package.json": '{"name": "x", "version": "1.0.0", "scripts": {"start": "echo started"}}\n',
        "config/app.ini": "[app]\n",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    later(folder, folder, "git", "add", ".")
    later(folder, folder, "git", "commit", "-qm", "first")
    for name in (".env", "config/prod.key"):
        (folder / name).write_text(SECRET)


def later(folder: Path, home: Path, *words: str) -> str:
    """Run a program as the user would later, outside any sandbox."""
    surroundings = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_EDITOR": "true",
        **{f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    done = subprocess.run(
        words,
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout + done.stderr


PROGRAMS: Sequence[Sequence[str]] = (
    ("git", "status"),
    ("git", "st"),
    ("git", "log", "-p"),
    ("git", "diff"),
    ("git", "submodule", "status"),
    ("git", "rebase", "--continue"),
    ("git", "am", "--continue"),
    ("git", "cherry-pick", "--continue"),
    ("git", "add", "src"),
    ("git", "commit", "--allow-empty", "-qm", "later"),
    ("git", "checkout", "-qb", "later"),
    ("git", "stash"),
    ("git", "gc", "--auto"),
    ("bash", "-lic", "true"),
    ("bash", "-ic", "true"),
    ("make",),
    ("npm", "start"),
    ("python3", "-m", "pip", "--version"),
    ("python3", "-c", "import json"),
    ("vim", "-es", "--cmd", "set exrc", "-c", "q", "src/x.py"),
)


def start_all(folder: Path, home: Path) -> None:
    """Start what the user would start later in the workspace, and git in every folder in it."""
    for words in PROGRAMS:
        with suppress(FileNotFoundError):
            later(folder, home, *words)
    for at, folders, _ in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "objects", "refs")]
        later(Path(at), home, "git", "status")


def snapshot(folder: Path) -> Mapping[str, tuple[object, ...]]:
    """Return the contents of a folder, and the state of each entry."""
    found: dict[str, tuple[object, ...]] = {}
    for at, folders, names in os.walk(folder):
        for name in (*folders, *names):
            about = os.lstat(f"{at}/{name}")
            found[os.path.relpath(f"{at}/{name}", folder)] = (
                about.st_mode,
                about.st_ino,
                about.st_size,
                about.st_mtime,
            )
    return found


async def attempt_all(
    box: Sandboxed, home: Path, pid: int, door: ListeningSockets, confinement: Confinement
) -> list[str]:
    """Make every attempt; return those that succeeded."""
    succeeded: list[str] = []
    for name, line in ((name, line) for table in ATTEMPTS.values() for name, line in table.items()):
        given = {
            "@RUN": f"touch {box.outside}/ran-{name.replace(' ', '-')}",
            "@OUT": str(box.outside),
            "@NAME": NAME,
            "@PORT": str(door.port),
            "@PID": str(pid),
            "@HOME": str(home),
            "@KEY": str(SHM_KEY),
        }
        for word, value in given.items():
            line = line.replace(word, value)
        before = snapshot(box.outside)
        end = await box.run(line, 20, confinement=confinement)
        said = end.output
        marks = [CANARY in said, SECRET in said, "reached" in said.splitlines(), bool(door.reached_sockets())]
        if any(marks) or snapshot(box.outside) != before:
            succeeded.append(f"{name}: {said[:300]}")
    return succeeded


def left_behind(folder: Path, before: Mapping[str, tuple[object, ...]]) -> list[str]:
    """Return what must not remain: set-ID files and protected names."""
    after = snapshot(folder)
    of_others = [path for path, (mode, *_) in after.items() if isinstance(mode, int) and _has_set_id(mode)]
    new = [
        path for path in after if path not in before and not {".git", "node_modules"} & set(path.split("/"))
    ]
    return [
        *of_others,
        *(path for path in new if is_protected(path) and not is_placeholder(str(folder / path))),
    ]


def _has_set_id(mode: int) -> bool:
    return stat.S_ISREG(mode) and bool(mode & (stat.S_ISUID | stat.S_ISGID))


def test_there_are_a_hundred_attempts() -> None:
    assert sum(map(len, ATTEMPTS.values())) >= 100


@pytest.mark.parametrize(
    ("way", "confinement"),
    [("bubblewrap", "must"), ("bubblewrap", "read_only"), ("landlock", "must"), ("landlock", "read_only")],
)
async def test_no_attempt_escapes(tmp_path: Path, way: SandboxMechanism, confinement: Confinement) -> None:
    async with sandboxed(tmp_path, way) as box:
        home = tmp_path.resolve() / "home"
        prepare(box.folder)
        with listening_sockets(box.folder) as door, canaries(box.outside) as pid:
            before, inside = snapshot(box.outside), snapshot(box.folder)
            succeeded = await attempt_all(box, home, pid, door, confinement)
            if way == "landlock" and confinement == "must":
                succeeded = [each for each in succeeded if not each.startswith(STRAY)]
            assert succeeded == []
            if confinement == "read_only":
                assert snapshot(box.folder) == inside
            assert left_behind(box.folder, inside) == []
            assert (box.folder / ".env").read_text() == SECRET
            start_all(box.folder, home)
            assert sorted(snapshot(box.outside)) == sorted(before)
            assert not (box.folder / "seen").exists() or CANARY not in (box.folder / "seen").read_text()
            assert os.listdir(home) in ([], [".npm"])
