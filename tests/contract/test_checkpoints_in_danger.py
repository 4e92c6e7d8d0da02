"""Checkpoints in a hostile workspace, with killed processes, and with several processes at work at once."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import threading
from copy import copy
from pathlib import Path

import anyio
import pytest

from hermes_acp.storage.checkpoints.checkpoint_manager import CheckpointManager
from hermes_acp.storage.checkpoints.checkpoint_store import StoreSetup
from hermes_acp.storage.checkpoints.garbage_collection import (
    SWEEP_INTERVAL_S,
    RetentionPolicy,
    collect_garbage,
    is_due,
    size_bytes,
)
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits
from tests.contract.test_checkpoints import Workshop, git, pytestmark, tree_of
from tests.conversations.app_scene import SequentialIds
from tests.unit.agent.turns import ManualClock

__all__ = ["pytestmark"]
KILLS = 12
WORKER = """
import os, sys
from pathlib import Path
from threading import Event
from hermes_acp.core.ports.checkpoint_ports import CheckpointContext
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits
from hermes_acp.storage.checkpoints.checkpoint_store import StoreSetup, CheckpointStore
home, root = Path(sys.argv[1]), sys.argv[2]
setup = StoreSetup(home, {"PATH": os.environ["PATH"], "HOME": str(home.parent)}, SnapshotLimits(1 << 20))
store = CheckpointStore(setup, Event(), {})
print("ready", flush=True)
number = 0
while True:
    number += 1
    occasion = CheckpointContext("ses_killed", f"turn_{number}", "t", (root,))
    note = store.begin(f"k{os.getpid()}_{number}", "turn", occasion, 10.0 * number, [])
    for name in range(40):
        Path(root, f"w{number % 5}_{name}").write_bytes(os.urandom(3000))
    store.finish(note, [])
"""


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path.resolve())


def trap(folder: Path, name: str) -> str:
    """Place a program that leaves a mark when it runs."""
    program = folder / f"trap-{name}"
    program.write_text(f"#!/bin/sh\ntouch '{folder}/ran-{name}'\ncat\n")
    program.chmod(0o755)
    return str(program)


def booby_trap(repository: Path, folder: Path, name: str) -> None:
    """Configure everything that git may start by itself to start a trap."""
    program = trap(folder, name)
    config = repository / "config"
    with config.open("a") as file:
        file.write(
            f"[core]\n\tfsmonitor = {program}\n\thooksPath = {repository}/hooks\n\tpager = {program}\n"
            f"\tsshCommand = {program}\n\teditor = {program}\n\tattributesFile = {repository}/attributes\n"
            f'[filter "evil"]\n\tclean = {program}\n\tsmudge = {program}\n\tprocess = {program}\n\trequired = true\n'
            f'[diff "evil"]\n\ttextconv = {program}\n\tcommand = {program}\n[diff]\n\texternal = {program}\n'
            f"[gpg]\n\tprogram = {program}\n[commit]\n\tgpgSign = true\n[include]\n\tpath = {repository}/more\n"
        )
    (repository / "attributes").write_text("* filter=evil diff=evil\n")
    (repository / "hooks").mkdir(exist_ok=True)
    for hook in (
        "post-index-change",
        "pre-commit",
        "reference-transaction",
        "post-checkout",
        "fsmonitor-watchman",
    ):
        path = repository / "hooks" / hook
        path.write_text(f"#!/bin/sh\nexec {program}\n")
        path.chmod(0o755)


def state_of_repository(root: Path) -> dict[str, bytes]:
    """Return every file of a repository, and when it was last changed."""
    return {
        str(path.relative_to(root)): path.read_bytes() + str(path.stat().st_mtime_ns).encode()
        for path in sorted((root / ".git").rglob("*"))
        if path.is_file()
    }


def test_a09_d06_nothing_in_the_workspace_runs_and_its_repository_is_unchanged(
    tmp_path: Path,
) -> None:
    workshop = Workshop(tmp_path.resolve())
    traps = tmp_path / "traps"
    traps.mkdir()
    root = workshop.root
    git(root, "init", "-q")
    workshop.write("kept.txt", "1\r\n2\n")
    workshop.write("staged.txt", "1")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    workshop.write("kept.txt", "stashed")
    git(root, "stash")
    workshop.write("staged.txt", "2")
    git(root, "add", "-A")
    inner = workshop.write("vendor/inner/x.c", "1").parent
    git(inner, "init", "-q")
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "inner")
    attributes = "* filter=evil diff=evil text eol=crlf ident working-tree-encoding=UTF-16\n"
    workshop.write(".gitattributes", attributes)
    workshop.write("vendor/inner/.gitattributes", attributes)
    evil = tmp_path / "evil"
    git(root, "init", "-q", "--bare", str(evil))
    workshop.write("pointed/file", "1")
    workshop.write("pointed/.git", f"gitdir: {evil}\n")
    workshop.write(
        ".gitmodules", '[submodule "x"]\n\tpath = pointed\n\turl = ext::sh -c touch\n\tignore = none\n'
    )
    for number, repository in enumerate((root / ".git", inner / ".git", evil)):
        booby_trap(repository, traps, str(number))
    before, own, others = tree_of(root), state_of_repository(root), state_of_repository(inner)

    def act() -> None:
        workshop.write("kept.txt", "$Id$\r\n\0 changed")
        workshop.write("vendor/inner/x.c", "2")
        workshop.write("pointed/file", "2")
        workshop.write("fresh.txt", "\ufeffnew\r\n")

    workshop.turn(act)
    assert state_of_repository(root) == own
    result = workshop.undo()
    assert result.conflicts == ()
    assert len(result.restored) == 4
    assert tree_of(root) == before
    assert (state_of_repository(root), state_of_repository(inner)) == (own, others)
    assert [path.name for path in traps.iterdir() if path.name.startswith("ran-")] == []
    workshop.redo()
    notes = workshop.store.checkpoint_index.of_session("ses_1")
    assert len(workshop.store.texts(notes[0], notes)) == 4
    assert [path.name for path in traps.iterdir() if path.name.startswith("ran-")] == []
    subprocess.run(["git", "status"], cwd=root, capture_output=True, timeout=30)
    assert [path.name for path in traps.iterdir() if path.name.startswith("ran-")], "the traps do work"


def test_a09_a_workspace_whose_git_file_points_elsewhere_is_stored_anyway(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path.resolve())
    traps, evil = tmp_path / "traps", tmp_path / "evil"
    traps.mkdir()
    git(workshop.root, "init", "-q", "--bare", str(evil))
    booby_trap(evil, traps, "evil")
    mark = {path: path.stat().st_mtime_ns for path in evil.rglob("*")}
    workshop.write(".git", f"gitdir: {evil}\n")
    path = workshop.write("a", "1")
    workshop.turn(lambda: path.write_text("2"))
    assert workshop.undo().restored == (str(path),)
    assert {each: each.stat().st_mtime_ns for each in evil.rglob("*")} == mark
    assert [each.name for each in traps.iterdir() if each.name.startswith("ran-")] == []


def test_a_git_program_in_the_workspace_is_never_run(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path.resolve())
    program = workshop.write("bin/git", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    path = f"{workshop.root}/bin{os.pathsep}{os.environ['PATH']}"
    variables = {"PATH": path, "HOME": str(tmp_path)}
    setup = workshop.store.setup
    workshop.store.setup = type(setup)(setup.home, variables, setup.bounds)
    with pytest.raises(Exception, match="is in the workspace"):
        workshop.turn(lambda: None)
    assert not (tmp_path / "ran").exists()


def test_undo_writes_through_no_link(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path.resolve())
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("theirs")
    workshop.write("folder/a", "1")
    workshop.turn(lambda: (workshop.root / "folder" / "a").write_text("2"))
    (workshop.root / "folder" / "a").unlink()
    (workshop.root / "folder").rmdir()
    (workshop.root / "folder").symlink_to(outside)
    assert [each.path for each in workshop.undo().conflicts] == [str(workshop.root / "folder/a")]
    workshop.undo(force=True)
    assert (outside / "a").read_text() == "theirs"
    assert (workshop.root / "folder").is_symlink()


def test_a_fifo_a_locked_file_and_other_special_files_stop_nothing(workshop: Workshop) -> None:
    os.mkfifo(workshop.root / "pipe")
    workshop.write(".GIT/config", "not a repository")
    (workshop.root / "sub").mkdir()
    (workshop.root / "sub" / ".gitmodules").symlink_to("/etc/passwd")
    path = workshop.write("a", "1")
    workshop.turn(lambda: [path.unlink(), os.mkfifo(path)])
    assert workshop.undo().restored == (str(path),)
    assert stat.S_ISFIFO((workshop.root / "pipe").stat().st_mode)


def test_a_kill_in_the_middle_leaves_everything_usable(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path.resolve())
    for number in range(300):
        workshop.write(f"file{number}", "x" * 500)
    chance = random.Random(7)
    for _ in range(KILLS):
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(workshop.home), str(workshop.root)],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert worker.stdout
        worker.stdout.readline()
        threading.Event().wait(chance.uniform(0.0, 0.5))
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(timeout=30)
        worker.stdout.close()
        before = tree_of(workshop.root)
        path = workshop.root / "file7"
        workshop.turn(lambda path=path: path.write_text("changed"))
        assert workshop.undo().restored == (str(path),)
        assert tree_of(workshop.root) == before
        workshop.store.listed("ses_killed")
    shadow = next(path for path in workshop.store.setup.shadows_folder.iterdir() if (path / "HEAD").is_file())
    checked = subprocess.run(
        ["git", f"--git-dir={shadow}", "fsck", "--no-dangling"], capture_output=True, timeout=60
    )
    assert b"missing" not in checked.stdout + checked.stderr


def test_two_concurrent_processes_wait_for_each_other(workshop: Workshop) -> None:
    for number in range(50):
        workshop.write(f"file{number}", str(number))
    others: list[Workshop] = []
    faults: list[BaseException] = []
    for number in (1000, 2000, 3000):
        other = copy(workshop)
        other.count = number
        others.append(other)

    def work(other: Workshop) -> None:
        try:
            for number in range(4):
                other.turn(lambda number=number: other.write(f"own{other.count}", str(number)))
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(other,)) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []
    assert len(workshop.store.listed("ses_1")) == 12


def test_garbage_collection_is_due_again_after_a_while_and_when_it_was_interrupted(
    workshop: Workshop,
) -> None:
    path = workshop.write("a", "0")
    workshop.turn(lambda: path.write_text("1"))
    assert is_due(workshop.store, 1010.0)
    workshop.store.stop.set()
    collect_garbage(workshop.store, RetentionPolicy(4, 30, 1), 1010.0)
    assert is_due(workshop.store, 1010.0), "this one has seen none of the existing objects"
    workshop.store.stop.clear()
    collect_garbage(workshop.store, RetentionPolicy(4, 30, 1 << 30), 1010.0)
    assert not is_due(workshop.store, 1010.0 + SWEEP_INTERVAL_S / 2)
    assert is_due(workshop.store, 1011.0 + SWEEP_INTERVAL_S)


def test_garbage_collection_keeps_recent_and_small_data(workshop: Workshop) -> None:
    (workshop.home / "sessions").mkdir(parents=True)
    record = workshop.home / "sessions" / "ses_1.jsonl"
    record.touch()
    path = workshop.write("a", "0")
    for number in range(6):
        workshop.turn(lambda number=number: path.write_bytes(random.Random(number).randbytes(400_000)))
    shadow = next(each for each in workshop.store.setup.shadows_folder.iterdir() if (each / "HEAD").is_file())
    collect_garbage(workshop.store, RetentionPolicy(4, 30, 1 << 30), 1010.0)
    assert len(workshop.store.listed("ses_1")) == 4
    collect_garbage(workshop.store, RetentionPolicy(4, 2.5 / 86_400, 1 << 30), 1007.0)
    assert len(workshop.store.listed("ses_1")) == 2
    collect_garbage(workshop.store, RetentionPolicy(4, 30, 1_300_000), 1010.0)
    assert size_bytes(shadow, threading.Event()) < 2_000_000
    kept = workshop.store.listed("ses_1")
    assert kept
    assert workshop.undo().conflicts == ()
    record.unlink()
    collect_garbage(workshop.store, RetentionPolicy(4, 30, 1 << 30), 1010.0)
    assert workshop.store.listed("ses_1") == []


SLOW_GIT = """#!/bin/sh
case "$*" in *write-tree*) echo $$ > '{pid}.new'; mv '{pid}.new' '{pid}'; exec sleep 300 ;; esac
exec {git} "$@"
"""


def slow_git(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make git hang when a tree is written; return the file that will contain its process ID."""
    pid, folder = workshop.home.parent / "pid", workshop.home.parent / "bin"
    folder.mkdir()
    program = folder / "git"
    program.write_text(SLOW_GIT.format(pid=pid, git=shutil.which("git")))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return pid


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def appears(path: Path) -> int:
    with anyio.fail_after(30):
        while not path.exists():
            await anyio.sleep(0.01)
    return int(path.read_text())


@pytest.mark.anyio
async def test_no_git_outlives_the_checkpoint_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process exits as soon as everything is closed, and closing interrupts unfinished work."""
    workshop = Workshop(tmp_path.resolve())
    number = slow_git(workshop, monkeypatch)
    setup = StoreSetup(
        workshop.home, {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, SnapshotLimits(1 << 20)
    )
    keeper = CheckpointManager(
        lambda: setup, lambda: RetentionPolicy(4, 30, 1 << 30), ManualClock(), SequentialIds()
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.open, workshop.occasion(), ())
        await appears(number)
        tasks.cancel_scope.cancel()
    await keeper.aclose()
    assert not is_alive(int(number.read_text()))


@pytest.mark.anyio
async def test_the_git_of_a_killed_process_holds_the_lock_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = Workshop(tmp_path.resolve())
    number = slow_git(workshop, monkeypatch)
    worker = await anyio.open_process([sys.executable, "-c", WORKER, str(workshop.home), str(workshop.root)])
    async with worker:
        pid = await appears(number)
        worker.kill()
    (lock,) = workshop.store.setup.shadows_folder.glob("*/lock")
    assert not is_free(lock)
    os.kill(pid, signal.SIGKILL)
    with anyio.fail_after(30):
        while not is_free(lock):
            await anyio.sleep(0.01)


def is_free(lock: Path) -> bool:
    with lock.open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
