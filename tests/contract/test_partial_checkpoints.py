"""Checkpoints of turns that change only files they name: those files are stored, and nothing else is read."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from hermes_acp.storage.checkpoints.checkpoint_checks import check_checkpoints
from hermes_acp.storage.checkpoints.checkpoint_index import CheckpointRecord
from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore, StoreSetup
from hermes_acp.storage.checkpoints.garbage_collection import RetentionPolicy, collect_garbage
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits
from tests.contract.test_checkpoints import Workshop, git, tree_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


class EditWorkshop(Workshop):
    """A workspace in which turns name the files that they change."""

    def begin(self, *touched: Path, is_whole: bool = False) -> CheckpointRecord:
        note_id, at = self.fresh()
        paths = [str(path) for path in touched]
        return self.store.begin(note_id, "turn", self.occasion(), at, paths, is_whole=is_whole)

    def edit(self, act: Callable[[], object], *touched: Path) -> str:
        """Change these files in a turn, and return its checkpoint."""
        note = self.begin(*touched)
        act()
        self.store.finish(note, [str(path) for path in touched])
        return note.id

    def record(self, checkpoint_id: str) -> CheckpointRecord:
        return self.store.find("ses_1", checkpoint_id)[0]


@pytest.fixture
def workshop(tmp_path: Path) -> EditWorkshop:
    return EditWorkshop(tmp_path.resolve())


def spied(workshop: EditWorkshop, place: Path) -> Callable[[], list[str]]:
    """Record every git command of a checkpoint store; return a function that reads the list."""
    real, log, shim = shutil.which("git"), place / "asked", place / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {real} "$@"\n')
    shim.chmod(0o755)
    log.touch()
    setup = workshop.store.setup
    variables = {"PATH": f"{shim.parent}:{os.environ['PATH']}", "HOME": str(place)}
    workshop.store = CheckpointStore(StoreSetup(setup.home, variables, setup.bounds), Event(), {})
    return lambda: log.read_text().splitlines()


def test_before_an_edit_no_git_is_started_and_no_index_written(tmp_path: Path) -> None:
    workshop = EditWorkshop(tmp_path.resolve())
    asked = spied(workshop, tmp_path)
    path = workshop.write("deep/er/a", "1")
    workshop.write("beside", "not read")
    note = workshop.begin(path)
    path.write_text("2")
    workshop.store.amend(note, [str(workshop.root / "new")])
    workshop.write("new")
    assert asked() == []
    workshop.store.finish(note, [])
    assert [line for line in asked() if "diff-tree" not in line] == []
    assert not list(workshop.store.setup.shadows_folder.glob("*/index"))
    assert workshop.undo().conflicts == ()
    assert (path.read_text(), (workshop.root / "new").exists()) == ("1", False)


def test_a_snapshot_in_progress_delays_no_edit(workshop: EditWorkshop) -> None:
    path = workshop.write("a", "1")
    with workshop.store.shadow(str(workshop.root)).held():
        workshop.edit(lambda: path.write_text("2"), path)
    assert workshop.undo().restored == (str(path),)


def test_concurrent_changes_by_others_are_not_part_of_a_turn_that_edits(workshop: EditWorkshop) -> None:
    path, other = workshop.write("a", "1"), workshop.write("b", "1")
    checkpoint = workshop.edit(lambda: [path.write_text("2"), other.write_text("mine")], path)
    (listed,) = workshop.store.listed("ses_1")
    assert [(each.path, each.change) for each in listed.files] == [(str(path), "modified")]
    (texts,) = workshop.store.texts(*workshop.store.find("ses_1", checkpoint))
    assert (texts.old_text, texts.new_text) == ("1", "2")
    path.write_text("mine too")
    assert [each.path for each in workshop.undo().conflicts] == [str(path)]
    assert workshop.undo(force=True).restored == (str(path),)
    assert (path.read_text(), other.read_text()) == ("1", "mine")
    assert workshop.redo().restored == (str(path),)
    assert path.read_text() == "mine too"


def test_links_modes_folders_and_renames_are_restored(workshop: EditWorkshop) -> None:
    shut = workshop.write("shut/key", "secret")
    shut.chmod(0o600)
    shut.parent.chmod(0o700)
    script = workshop.write("run.sh", "#!/bin/sh\n" + "line\n" * 20)
    script.chmod(0o755)
    link = workshop.root / "link"
    link.symlink_to("run.sh")
    (workshop.root / "empty").mkdir()
    moved, made = workshop.root / "moved/run.sh", workshop.root / "empty/made"
    before = tree_of(workshop.root)

    def act() -> None:
        workshop.write("moved/run.sh", script.read_text())
        script.unlink()
        shut.unlink()
        link.unlink()
        link.symlink_to("moved/run.sh")
        made.write_text("x")

    workshop.edit(act, shut, script, link, moved, made)
    (listed,) = workshop.store.listed("ses_1")
    assert ("renamed", str(script)) in {(each.change, each.old_path) for each in listed.files}
    assert workshop.undo().conflicts == ()
    assert tree_of(workshop.root) == before
    assert shut.parent.stat().st_mode & 0o777 == 0o700
    assert workshop.redo().conflicts == ()
    assert link.readlink() == Path("moved/run.sh")
    assert moved.exists()


def test_a_command_after_edits_stores_the_state_before_both(workshop: EditWorkshop) -> None:
    """The folder is stored as it is before a command; edited files are stored as they were before the edits."""
    workshop.write(".gitignore", "*.log\n")
    edited, log = workshop.write("a", "1"), workshop.write("x.log", "1")
    edited.chmod(0o640)
    deleted, commanded = workshop.write("only/b", "1"), workshop.write("c", "1")
    before = tree_of(workshop.root)
    note = workshop.begin(edited, log, deleted)
    edited.write_text("2")
    edited.chmod(0o600)
    log.write_text("2")
    deleted.unlink()
    workshop.store.amend(note, [], is_whole=True)
    assert note.places[0].files_before is None
    commanded.write_text("2")
    edited.write_text("3")
    workshop.write("made/by/command")
    workshop.store.amend(note, [str(commanded)], is_whole=True)
    workshop.store.finish(note, list(map(str, (edited, log, deleted, commanded))))
    after = tree_of(workshop.root)
    assert workshop.undo().conflicts == ()
    assert tree_of(workshop.root) == before
    assert workshop.redo().conflicts == ()
    assert tree_of(workshop.root) == after


def test_a_folder_in_place_of_an_edited_file_is_undone(workshop: EditWorkshop) -> None:
    path = workshop.write("a", "1")
    before = tree_of(workshop.root)
    note = workshop.begin(path)
    path.unlink()
    workshop.write("a/inner")
    workshop.store.amend(note, [], is_whole=True)
    workshop.write("a/more")
    workshop.store.finish(note, [str(path)])
    assert workshop.undo().conflicts == ()
    assert tree_of(workshop.root) == before


def test_a_named_folder_is_stored_completely(workshop: EditWorkshop) -> None:
    workshop.write("folder/deep/a", "1")
    before = tree_of(workshop.root)
    workshop.edit(lambda: shutil.rmtree(workshop.root / "folder"), workshop.root / "folder")
    assert workshop.undo().conflicts == ()
    assert tree_of(workshop.root) == before


def test_a_killed_turn_records_nothing_about_files_it_did_not_name(workshop: EditWorkshop) -> None:
    """A turn's unknown end is not derived from a later turn's few files, as if they were the folder."""
    files = [workshop.write(f"f{number}", "1") for number in range(4)]
    first, second, third, _ = files
    workshop.begin(is_whole=True)
    first.write_text("killed")
    workshop.edit(lambda: second.write_text("2"), second)
    workshop.begin(third)
    third.write_text("killed")
    killed, edited, edit_killed = workshop.store.listed("ses_1")
    assert (killed.is_torn, edited.is_torn, edit_killed.is_torn) == (True, False, True)
    assert [killed.files, edit_killed.files] == [(), ()]
    assert [each.path for each in workshop.undo(1).conflicts] == [str(third)]
    assert workshop.undo(1, force=True).restored == (str(third),)
    assert workshop.restore(killed.id, force=True).restored == (str(first),)
    assert [path.read_text() for path in files] == ["1", "2", "1", "1"]


def test_later_checkpoints_show_what_a_killed_turn_left(workshop: EditWorkshop) -> None:
    first, second = workshop.write("a", "1"), workshop.write("b", "1")
    whole, edit = workshop.begin(is_whole=True), workshop.begin(second)
    first.write_text("2")
    second.write_text("2")
    workshop.edit(lambda: first.write_text("3"), first)
    workshop.turn(lambda: [first.write_text("4"), second.write_text("4")])
    changed = {each.id: each.files for each in workshop.store.listed("ses_1")}
    assert [each.path for each in changed[whole.id]] == [str(first)]
    assert [each.path for each in changed[edit.id]] == [str(second)]
    texts = workshop.store.texts(*workshop.store.find("ses_1", whole.id))
    assert [(each.old_text, each.new_text) for each in texts] == [("1", "2")]
    ((_, patch),) = workshop.store.patches(*workshop.store.find("ses_1", edit.id))
    assert b"-1\n" in patch
    assert b"+2\n" in patch


def test_several_folders_are_stored_file_by_file(workshop: EditWorkshop) -> None:
    second = workshop.root.parent / "second"
    second.mkdir()
    workshop.roots = (str(workshop.root), str(second))
    path, other = workshop.write("a", "1"), second / "b"
    note = workshop.begin(path)
    path.write_text("2")
    workshop.store.amend(note, [str(other), str(workshop.root.parent / "outside")])
    other.write_text("new")
    workshop.store.finish(note, [])
    assert workshop.undo().restored == (str(other), str(path))
    assert (path.read_text(), other.exists()) == ("1", False)


def test_no_state_is_read_or_restored_through_a_link(workshop: EditWorkshop) -> None:
    outside = workshop.root.parent / "outside"
    outside.mkdir()
    (outside / "a").write_text("theirs")
    (workshop.root / "folder").symlink_to(outside)
    checkpoint = workshop.edit(lambda: workshop.write("b"), workshop.root / "folder/a", workshop.root / "b")
    assert workshop.record(checkpoint).places[0].files_before == ((b"folder/a", None), (b"b", None))
    assert b"theirs" not in stored_in(workshop)


def stored_in(workshop: EditWorkshop) -> bytes:
    (shadow,) = workshop.store.setup.shadows_folder.glob("*/HEAD")
    command = ("git", "--git-dir", str(shadow.parent), "cat-file", "--batch", "--batch-all-objects")
    return subprocess.run(command, capture_output=True, check=True, timeout=60).stdout


def test_keys_and_large_files_are_omitted_and_reported(tmp_path: Path) -> None:
    workshop = EditWorkshop(tmp_path.resolve())
    setup = workshop.store.setup
    limits = SnapshotLimits(1000, holds_keys=lambda path: path.endswith(".env"))
    workshop.store.setup = StoreSetup(setup.home, setup.variables, limits)
    key, big, plain = (
        workshop.write(".env", "KEYWORDS"),
        workshop.write("big", "b" * 2000),
        workshop.write("a"),
    )
    touched = (key, big, plain)
    workshop.edit(lambda: [path.write_text("changed") for path in touched], *touched)
    assert b"KEYWORDS" not in stored_in(workshop)
    (listed,) = workshop.store.listed("ses_1")
    assert listed.left_out == (str(key), str(big))
    assert [each.path for each in workshop.undo(force=True).conflicts] == [str(big)]
    assert [path.read_text() for path in touched] == ["changed", "changed", "x"]


def test_the_stored_objects_are_valid_for_git_and_survive_its_garbage_collection(
    workshop: EditWorkshop,
) -> None:
    names = ("a", "a.b", "a-b/c", "a/c", "ü ñ/-d", "new\nline")
    paths = [workshop.write(name, name * 9) for name in names if name != "a"]
    paths[0].write_bytes(b"\0\r\n" * 300_000)
    before = tree_of(workshop.root)
    expected = [git(workshop.root, "hash-object", "--no-filters", "--", str(path)).strip() for path in paths]
    checkpoint = workshop.edit(lambda: [path.unlink() for path in paths], *paths)
    named = workshop.record(checkpoint).places[0].files_before or ()
    assert [state.oid for _, state in named if state] == expected
    (head,) = workshop.store.setup.shadows_folder.glob("*/HEAD")
    own = ["git", f"--git-dir={head.parent}"]
    fsck = subprocess.run([*own, "fsck", "--strict", "--no-dangling"], capture_output=True, timeout=60)
    assert (fsck.returncode, fsck.stdout) == (0, b"")
    sessions = workshop.home / "sessions"
    sessions.mkdir()
    (sessions / "ses_1.jsonl").touch()
    subprocess.run([*own, "repack", "-a", "-d", "-q"], check=True, timeout=60)
    collect_garbage(workshop.store, RetentionPolicy(9, 30, 1 << 30), 1010.0)
    assert next(check_checkpoints(workshop.store.setup)).text == "1 checkpoints can be undone."
    assert workshop.undo().conflicts == ()
    assert tree_of(workshop.root) == before


def test_garbage_collection_protects_the_tree_of_an_unreferenced_record(
    workshop: EditWorkshop,
) -> None:
    """A process may be killed between writing the reference and the record, or the other way round."""
    first, second = workshop.write("a", "1"), workshop.write("b", "1")
    note = workshop.begin(first)
    (ref,) = workshop.store.setup.shadows_folder.glob("*/refs/turns/*/before")
    known = ref.read_text()
    workshop.store.amend(note, [str(second)])
    assert ref.read_text() != known
    ref.write_text(known)
    (workshop.home / "sessions").mkdir()
    (workshop.home / "sessions" / "ses_1.jsonl").touch()
    for path in ref.parents[3].glob("objects/??/*"):
        os.utime(path, (0, 0))
    (ref.parents[3] / "objects" / "17").mkdir(exist_ok=True)
    for number in range(30):
        (ref.parents[3] / "objects" / "17" / f"tmp_obj_{number}").touch()
    collect_garbage(workshop.store, RetentionPolicy(9, 30, 1 << 30), 1010.0)
    second.write_text("2")
    assert workshop.undo(force=True).restored == (str(second),)


def test_a_shadow_repository_without_checkpoints_is_emptied_after_a_day_and_reused(
    workshop: EditWorkshop,
) -> None:
    path = workshop.write("a", "1")
    workshop.edit(lambda: path.write_text("2"), path)
    (shadow,) = (head.parent for head in workshop.store.setup.shadows_folder.glob("*/HEAD"))
    terms, now = RetentionPolicy(9, 30, 1 << 30), (shadow / "used").stat().st_mtime
    for hours, is_kept in ((23, True), (25, False)):
        collect_garbage(workshop.store, terms, now + hours * 3600)  # Its session has no record.
        assert bool(list(shadow.glob("objects/??/*"))) == is_kept
    workshop.edit(lambda: path.write_text("3"), path)
    assert workshop.undo().restored == (str(path),)
    assert path.read_text() == "2"


def test_records_of_earlier_versions_contain_the_whole_folder(workshop: EditWorkshop) -> None:
    path = workshop.write("a", "1")
    checkpoint = workshop.turn(lambda: path.write_text("2"))
    (stored,) = workshop.store.checkpoint_index.folder.glob("*/*.json")
    stored.write_text(stored.read_text().replace(',"files_before":null', ""))
    assert workshop.record(checkpoint).places[0].files_before is None
    assert workshop.undo().restored == (str(path),)


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
occasion = CheckpointContext("ses_1", "turn", "t", (root,))
print("ready", flush=True)
note = store.begin(f"k{os.getpid()}", "turn", occasion, float(sys.argv[3]), [], is_whole=False)
for number in range(10_000):
    path = f"{root}/file{number % 30}"
    store.amend(note, [path], is_whole=number == 20)
    Path(path).write_bytes(os.urandom(2000))
"""


def test_a_killed_turn_that_edits_is_undone_completely(workshop: EditWorkshop) -> None:
    for number in range(40):
        workshop.write(f"file{number}", str(number))
    before, chance = tree_of(workshop.root), random.Random(3)
    for round_ in range(4):
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(workshop.home), str(workshop.root), str(workshop.fresh()[1])],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert worker.stdout
        worker.stdout.readline()
        threading.Event().wait(chance.uniform(0.0, 0.25) if round_ else 0.5)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(timeout=30)
        worker.stdout.close()
        torn = [each for each in workshop.store.checkpoint_index.of_session("ses_1") if each.is_torn]
        if tree_of(workshop.root) != before:
            assert torn
            assert workshop.undo(1, force=True).conflicts == ()
        assert tree_of(workshop.root) == before
