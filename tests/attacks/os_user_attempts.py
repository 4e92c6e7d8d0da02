"""The attacks that one operating system user tries on another's agent: files, processes, sockets and ports.

`python -m tests.attacks.os_user_attempts`, started as root with a `Target` on standard input, becomes the attacker,
tries everything, and prints the result of each attempt.
"""

import codecs
import ctypes
import http.client
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

Attempt = tuple[str, Callable[[], object]]
PTRACE_ATTACH = 16
PIDFD_GETFD = 438


class Target(Struct):
    """The attacker's identity, and the victim's folders, files, sockets, processes and ports."""

    user_id: int
    group_id: int
    folders: list[str]
    files: list[str]
    sockets: list[str]
    processes: list[int]
    ports: list[int]
    own_token: str


class Outcome(Struct):
    """The result of an attempt: why it was refused, or an empty string if it succeeded."""

    name: str
    refusal: str


class Refused(Exception):
    """The attempt was refused."""


def attempts(target: Target) -> Iterator[Attempt]:
    """Yield every attempt."""
    for folder in map(Path, target.folders):
        yield from _on_folder(folder)
    for file in map(Path, target.files):
        yield from _on_file(file)
    for place in target.sockets:
        yield f"connect to {place}", lambda place=place: _connect(place)
    for pid in target.processes:
        yield from _on_process(pid)
    for port in target.ports:
        for name, headers in _greetings(target.own_token).items():
            yield f"ask port {port} {name}", lambda port=port, headers=headers: _ask(port, headers)


def _on_folder(folder: Path) -> Iterator[Attempt]:
    yield f"list {folder}", lambda: os.listdir(folder)
    yield f"create a file in {folder}", lambda: (folder / "planted").write_text("x")
    yield f"plant a link in {folder}", lambda: (folder / "link").symlink_to("/etc/passwd")
    yield f"change the mode of {folder}", lambda: folder.chmod(0o777)
    yield f"move {folder}", lambda: folder.rename(folder.with_name("moved"))


def _on_file(file: Path) -> Iterator[Attempt]:
    yield f"read {file}", file.read_bytes
    yield f"add to {file}", lambda: file.open("ab").close()
    yield f"delete {file}", file.unlink
    yield f"link {file} elsewhere", lambda: os.link(file, f"/tmp/stolen-{os.getpid()}")


def _on_process(pid: int) -> Iterator[Attempt]:
    for name in ("environ", "mem", "maps", "io", "auxv"):
        yield f"read {name} of {pid}", lambda name=name: _read_byte(f"/proc/{pid}/{name}")
    for name in ("cwd", "root", "exe", "fd/0"):
        yield f"follow {name} of {pid}", lambda name=name: os.readlink(f"/proc/{pid}/{name}")
    yield f"list what {pid} has open", lambda: os.listdir(f"/proc/{pid}/fd")
    yield f"reopen the output of {pid}", lambda: Path(f"/proc/{pid}/fd/1").open("wb").close()
    yield f"stop {pid}", lambda: os.kill(pid, signal.SIGSTOP)
    yield f"end {pid}", lambda: os.kill(pid, signal.SIGTERM)
    yield f"limit {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, 8))
    yield f"trace {pid}", lambda: _call(ctypes.CDLL(None, use_errno=True).ptrace, PTRACE_ATTACH, pid, 0, 0)
    yield f"take a descriptor of {pid}", lambda: _take_descriptor(pid)


def _read_byte(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(1)


def _take_descriptor(pid: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    _call(library.syscall, PIDFD_GETFD, os.pidfd_open(pid), 0, 0)


def _call(function: Callable[..., int], *arguments: int) -> None:
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _connect(place: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(place)


def _greetings(own_token: str) -> dict[str, dict[str, str]]:
    return {
        "without a token": {},
        "with an invented token": {"authorization": "Bearer " + "A" * 43},
        "with its own token, as the victim": {
            "authorization": f"Bearer {own_token}",
            "x-forwarded-user": "anna",
        },
    }


def _ask(port: int, headers: dict[str, str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}})
    connection.request("POST", "/acp", body, {"content-type": "application/json", **headers})
    answer = connection.getresponse()
    if answer.status >= 400:
        raise Refused(f"status {answer.status}")


def refusal_of(attempt: Callable[[], object]) -> str:
    """Return why an attempt was refused, or an empty string if it succeeded."""
    try:
        attempt()
    except (PermissionError, Refused) as error:
        return str(error) or type(error).__name__
    return ""


def main() -> None:
    """Become the attacker, try everything, and print the results."""
    target = msgspec.json.decode(sys.stdin.buffer.read(), type=Target)
    codecs.lookup("idna")  # The attacker cannot import what the HTTP client needs.
    os.setgroups([])
    os.setgid(target.group_id)
    os.setuid(target.user_id)
    ended = [Outcome(name, refusal_of(attempt)) for name, attempt in attempts(target)]
    sys.stdout.buffer.write(msgspec.json.encode(ended))


if __name__ == "__main__":
    main()
