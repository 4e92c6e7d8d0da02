"""The list of this process's children, while other children start and end."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread

import pytest

from hermes_acp.workspaces.processes.process_table import list_children, list_processes

READINGS = 200


@contextmanager
def sleeping() -> Generator[int]:
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


@contextmanager
def children_that_come_and_go() -> Generator[None]:
    over = Event()

    def start_and_wait() -> None:
        while not over.is_set():
            subprocess.run(["true"], check=True)

    threads = [Thread(target=start_and_wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_children_of_all_threads_are_listed() -> None:
    with ExitStack() as stack:
        pids = [stack.enter_context(sleeping())]
        thread = Thread(target=lambda: pids.append(stack.enter_context(sleeping())))
        thread.start()
        thread.join()
        listed = {process.pid: process for process in list_children()}
        assert set(pids) <= set(listed)
        everything = list_processes()
        assert all(listed[pid] == everything[pid] for pid in pids)
        assert {process.parent for process in listed.values()} == {os.getpid()}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has lists of children")
def test_no_child_is_missed_while_others_end() -> None:
    with sleeping() as pid, children_that_come_and_go():
        for _ in range(READINGS):
            assert pid in {process.pid for process in list_children()}


def test_a_dead_child_is_listed_until_it_is_reaped() -> None:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    (found,) = [child for child in list_children() if child.pid == process.pid]
    assert found.is_dead
    process.wait()
    assert process.pid not in {child.pid for child in list_children()}
