"""Starting a command with fewer privileges than ours: ours are unaffected, and nothing starts unrestricted."""

import errno
import os
import sys
import threading
from pathlib import Path
from subprocess import DEVNULL

import pytest

from hermes_acp.workspaces.processes.process_spawn import SandboxEntry, ShellCommand, start

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="threads have no privileges of their own here"
)
WAIT = ("/bin/sh", "-c", 'read -r end <&2; exec 2>&1; exec "$@"', "sh")


def run(line: str, gate: SandboxEntry, folder: Path) -> str:
    shell = ShellCommand(("/bin/sh", "-c", line), str(folder), {"PATH": os.defpath}, "mark-0", 10.0, gate)
    reading, writing = os.pipe()
    try:
        process = start(shell, DEVNULL, writing)
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    with open(reading, encoding="utf-8") as output:
        said = output.read()
    process.wait(10)
    return said


def test_the_thread_that_dropped_its_privileges_is_gone_before_the_command_acts(tmp_path: Path) -> None:
    tasks: list[int] = []

    def give_up(_: str) -> None:
        tasks.append(threading.get_native_id())

    for _ in range(20):
        line = f"ls /proc/{os.getpid()}/task; echo to stderr >&2"
        said = run(line, SandboxEntry(WAIT, lambda pid: None, give_up), tmp_path).split("\n")
        assert str(os.getpid()) in said
        assert str(tasks[-1]) not in said
        assert "to stderr" in said
    assert threading.get_native_id() not in tasks


def test_a_command_is_received_before_it_continues(tmp_path: Path) -> None:
    received: list[int] = []

    def receive(pid: int) -> None:
        assert not (tmp_path / "acted").exists()
        received.append(pid)

    said = run("touch acted; echo $$", SandboxEntry(WAIT, receive), tmp_path)
    assert received == [int(said)]
    assert (tmp_path / "acted").exists()


def test_nothing_is_started_if_privileges_cannot_be_dropped(tmp_path: Path) -> None:
    def give_up(_: str) -> None:
        raise OSError(errno.ENOSYS, "not here")

    with pytest.raises(OSError, match="not here"):
        run("touch acted", SandboxEntry(WAIT, lambda pid: None, give_up), tmp_path)
    assert not (tmp_path / "acted").exists()


def test_privileges_dropped_by_one_thread_are_kept_by_all_others(tmp_path: Path) -> None:
    # A thread has its own priority, just as it has its own privileges.
    own = os.getpriority(os.PRIO_PROCESS, 0)
    said = run(
        "nice",
        SandboxEntry(WAIT, lambda pid: None, lambda _: os.setpriority(os.PRIO_PROCESS, 0, own + 3)),
        tmp_path,
    )
    assert int(said) == own + 3
    assert os.getpriority(os.PRIO_PROCESS, 0) == own
