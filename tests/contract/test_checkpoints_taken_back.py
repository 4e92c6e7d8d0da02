"""Undoing changes to permission bits, undoing files and folders that replaced each other, and listing checkpoints."""

import os
import shutil
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.storage.checkpoints.checkpoint_checks import check_checkpoints
from hermes_acp.storage.checkpoints.checkpoint_manager import CheckpointManager
from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore, StoreSetup
from hermes_acp.storage.checkpoints.garbage_collection import RetentionPolicy
from hermes_acp.storage.checkpoints.ignored_files import MAX_FILES
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits
from tests.contract.test_checkpoints import Workshop, tree_of
from tests.conversations.app_scene import SequentialIds
from tests.unit.agent.turns import ManualClock


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path.resolve())


def test_permission_bits_are_restored_after_a_turn_that_set_other_ones(workshop: Workshop) -> None:
    key, shared = workshop.write("key", "secret"), workshop.write("shared", "secret")
    key.chmod(0o600)
    shared.chmod(0o640)

    def act() -> None:
        key.chmod(0o755)
        shared.unlink()
        workshop.write("shared", "other").chmod(0o644)

    workshop.turn(act)
    assert workshop.undo().conflicts == ()
    assert [oct(each.stat().st_mode & 0o777) for each in (key, shared)] == ["0o600", "0o640"]


def test_folders_get_their_permission_bits_back(workshop: Workshop) -> None:
    for name in ("shut/a", "usual/b", "gone/c"):
        workshop.write(name)
    shut, usual, gone = (workshop.root / name for name in ("shut", "usual", "gone"))
    shut.chmod(0o700)
    gone.chmod(0o750)

    def act() -> None:
        shut.chmod(0o777)
        usual.chmod(0o500)
        shutil.rmtree(gone)

    workshop.turn(act)
    assert workshop.undo().conflicts == ()
    assert bits_of(shut, usual, gone) == ["0o700", "0o755", "0o750"]
    assert workshop.redo().conflicts == ()
    assert bits_of(shut, usual) == ["0o777", "0o500"]
    assert not gone.exists()


def bits_of(*folders: Path) -> list[str]:
    return [oct(each.stat().st_mode & 0o777) for each in folders]


def test_a_pipe_in_place_of_a_file_is_removed(workshop: Workshop) -> None:
    path = workshop.write("a", "1")

    def act() -> None:
        path.unlink()
        os.mkfifo(path)

    workshop.turn(act)
    assert workshop.undo().conflicts == ()
    assert path.read_text() == "1"


def test_an_ignored_folder_that_was_deleted_completely_is_restored(workshop: Workshop) -> None:
    workshop.write(".gitignore", "build/\n")
    for name in ("build/a", "build/deep/b"):
        workshop.write(name, name)
    before = tree_of(workshop.root)
    workshop.turn(lambda: shutil.rmtree(workshop.root / "build"), workshop.root / "build")
    assert workshop.undo().conflicts == ()
    assert tree_of(workshop.root) == before


def test_an_ignored_folder_with_too_much_in_it_is_omitted_and_named(workshop: Workshop) -> None:
    workshop.write(".gitignore", "build/\n")
    for number in range(MAX_FILES + 1):
        workshop.write(f"build/{number}", "")
    workshop.write("plain", "1")
    name = workshop.turn(lambda: workshop.write("plain", "2"), workshop.root / "build")
    (note,) = [each for each in workshop.store.checkpoint_index.of_session("ses_1") if each.id == name]
    assert b"build" in note.places[0].left_before
    assert workshop.undo().conflicts == ()


def test_a_folder_in_place_of_a_file_is_undone(workshop: Workshop) -> None:
    workshop.write("plain")
    os.symlink("nowhere", workshop.root / "link")
    before = tree_of(workshop.root)

    def act() -> None:
        for name in ("plain", "link"):
            (workshop.root / name).unlink()
            workshop.write(f"{name}/inner/deep")

    workshop.turn(act)
    after = tree_of(workshop.root)
    assert workshop.undo().conflicts == ()
    assert tree_of(workshop.root) == before
    assert workshop.redo().conflicts == ()
    assert tree_of(workshop.root) == after


def test_an_empty_folder_in_place_of_a_file_that_a_turn_created_is_removed_too(workshop: Workshop) -> None:
    (workshop.root / "was").mkdir()
    before = tree_of(workshop.root)
    workshop.turn(lambda: [workshop.write("fresh"), (workshop.root / "was").rmdir(), workshop.write("was")])
    workshop.turn(lambda: [(workshop.root / name).unlink() for name in ("fresh", "was")])
    workshop.turn(
        lambda: [(workshop.root / name / "a" / "b").mkdir(parents=True) for name in ("fresh", "was")]
    )
    assert workshop.undo(3).conflicts == ()
    assert tree_of(workshop.root) == before


def test_a_touched_folder_hides_none_of_its_content(workshop: Workshop) -> None:
    workshop.write("x/y/z")
    before = tree_of(workshop.root)
    workshop.turn(lambda: shutil.rmtree(workshop.root / "x"), workshop.root / "x")
    assert workshop.undo().conflicts == ()
    assert tree_of(workshop.root) == before


def test_temporary_files_of_a_killed_undo_are_removed_by_the_next(workshop: Workshop) -> None:
    path = workshop.write("a/b", "1")
    workshop.turn(lambda: path.write_text("2"))
    left, users = workshop.write("a/.hermes-0123456789abcdef"), workshop.write("a/.hermes-notes")
    assert workshop.undo().conflicts == ()
    assert not left.exists()
    assert users.exists()


def test_a_checkup_reports_lost_and_unfinished_checkpoints(workshop: Workshop) -> None:
    path = workshop.write("a", "1")
    first = workshop.turn(lambda: path.write_text("2"))
    workshop.turn(lambda: path.write_text("3"))

    def findings() -> list[tuple[str, str]]:
        found = list(check_checkpoints(workshop.store.setup))
        assert found.pop().text.startswith("Checkpoints take ")
        return [(each.level, each.text) for each in found]

    assert findings() == [("fine", "2 checkpoints can be undone.")]
    (pin,) = workshop.store.setup.shadows_folder.glob(f"*/refs/turns/{first}/before")
    pin.unlink()
    workshop.store.begin("cp_9", "turn", workshop.occasion(), 2000.0, [])
    assert findings() == [
        ("note", f"1 of 3 checkpoints have lost their content ({first})."),
        ("note", "1 checkpoints belong to unfinished turns."),
    ]


def test_the_folders_of_a_tree_are_listed_once_and_their_bits_read_each_time(tmp_path: Path) -> None:
    real, log, shim = shutil.which("git"), tmp_path / "asked", tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {real} "$@"\n')
    shim.chmod(0o755)
    workshop = Workshop(tmp_path)
    variables = {"PATH": f"{shim.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    workshop.store = CheckpointStore(
        StoreSetup(workshop.home, variables, SnapshotLimits(1 << 20)), Event(), {}
    )
    folder = workshop.write("inner/a", "1").parent
    for mode in (0o700, 0o755):
        workshop.turn(partial(folder.chmod, mode))
    listings = [line for line in log.read_text().splitlines() if "ls-tree -r -d" in line]
    assert len(listings) == 1
    workshop.undo()
    assert folder.stat().st_mode & 0o777 == 0o700
    workshop.undo()
    assert folder.stat().st_mode & 0o777 == 0o755


@pytest.mark.anyio
@pytest.mark.parametrize("force", [False, True])
async def test_changes_in_a_missing_folder_cannot_be_undone_and_that_is_reported(
    workshop: Workshop, force: bool
) -> None:
    path = workshop.write("a", "1")
    workshop.turn(lambda: path.write_text("2"))
    shutil.rmtree(workshop.root)
    terms = RetentionPolicy(keep_turns=9, keep_days=9.0, largest_store_bytes=1 << 30)
    keeper = CheckpointManager(lambda: workshop.store.setup, lambda: terms, ManualClock(), SequentialIds())
    with pytest.raises(CheckpointError, match=str(workshop.root)):
        await keeper.undo("ses_1", 1, force=force)
