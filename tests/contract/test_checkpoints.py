"""Checkpoints with real git: whatever a turn does to files, undo restores exactly the tree that existed before."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from hermes_acp.core.ports.checkpoint_ports import CheckpointContext, CheckpointError, RestoreResult
from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore, StoreSetup
from hermes_acp.storage.checkpoints.restoration import CheckpointRestorer, RestoreRequest
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
NAMES = (
    "a",
    "b.txt",
    "ü ñ",
    "new\nline",
    "-dash",
    "sp ace",
    "q'\"`",
    ":(top)x",
    "*.log",
    "UP",
    "é".encode("latin-1"),
)
CONTENTS = (b"", b"text\n", b"\0\xff binary", b"one\r\ntwo\r\n", b"$Id$\n", b"x" * 70_000)


class Workshop:
    """A workspace with its checkpoints."""

    def __init__(self, place: Path, largest_file_bytes: int = 1 << 20) -> None:
        self.root = place / "work"
        self.root.mkdir()
        self.home = place / "home"
        variables = {"PATH": os.environ["PATH"], "HOME": str(place)}
        self.store = CheckpointStore(
            StoreSetup(self.home, variables, SnapshotLimits(largest_file_bytes)), Event(), {}
        )
        self.roots: tuple[str, ...] = (str(self.root),)
        self.count = 0

    def fresh(self) -> tuple[str, float]:
        self.count += 1
        return f"cp_{self.count}", 1000.0 + self.count

    def occasion(self) -> CheckpointContext:
        return CheckpointContext("ses_1", f"turn_{self.count}", "title", self.roots)

    def turn(self, act: Callable[[], object], *touched: Path) -> str:
        """Run a turn, and return its checkpoint."""
        note_id, at = self.fresh()
        paths = [str(path) for path in touched]
        note = self.store.begin(note_id, "turn", self.occasion(), at, paths)
        act()
        self.store.finish(note, paths)
        return note_id

    def wish(self, *, force: bool = False, only: tuple[str, ...] | None = None) -> RestoreRequest:
        return RestoreRequest(*self.fresh(), self.occasion(), only, force)

    def undo(self, count: int = 1, *, force: bool = False) -> RestoreResult:
        return CheckpointRestorer(self.store).undo("ses_1", count, self.wish(force=force))

    def redo(self) -> RestoreResult:
        return CheckpointRestorer(self.store).redo("ses_1", self.wish())

    def restore(self, checkpoint_id: str, *only: Path, force: bool = False) -> RestoreResult:
        wish = self.wish(force=force, only=tuple(map(str, only)) or None)
        return CheckpointRestorer(self.store).restore("ses_1", checkpoint_id, wish)

    def write(self, name: str, content: str = "x") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path.resolve())


def tree_of(root: Path) -> dict[bytes, object]:
    """Return everything below a folder: kinds, permission bits, targets and bytes."""
    found: dict[bytes, object] = {}
    for folder, folders, files in os.walk(os.fsencode(root)):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            about = os.lstat(path)
            if os.path.islink(path):
                found[path] = ("link", os.readlink(path))
            elif os.path.isdir(path):
                found[path] = "folder"
            else:
                found[path] = (about.st_mode & 0o777, Path(os.fsdecode(path)).read_bytes())
    return found


def git(root: Path, *arguments: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root.parent),
        "GIT_AUTHOR_NAME": "n",
        "GIT_AUTHOR_EMAIL": "e",
        "GIT_COMMITTER_NAME": "n",
        "GIT_COMMITTER_EMAIL": "e",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=root, env=environment, capture_output=True, check=True, timeout=30
    )
    return done.stdout.decode()


class Vandal:
    """Makes random changes to a tree."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = os.fsencode(root)
        self.random = random.Random(seed)

    def path(self) -> bytes:
        depth = self.random.choice((1, 1, 2, 3))
        return os.path.join(self.root, *(os.fsencode(self.random.choice(NAMES)) for _ in range(depth)))

    def act(self) -> None:
        path = self.path()
        kind = self.random.choice(("write", "write", "delete", "rename", "mode", "link", "folder", "append"))
        try:
            match kind:
                case "write":
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "wb") as file:
                        file.write(self.random.choice(CONTENTS))
                case "append":
                    with open(path, "ab") as file:
                        file.write(b"more")
                case "delete" if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path)
                case "delete":
                    os.unlink(path)
                case "rename":
                    os.rename(path, self.path())
                case "mode" if not os.path.islink(path):
                    os.chmod(path, os.lstat(path).st_mode ^ 0o111 if os.path.isfile(path) else 0o755)
                case "link":
                    os.symlink(self.random.choice((b"a", b"../x", b"/etc")), path)
                case _:
                    os.makedirs(path, exist_ok=True)
        except OSError:
            return


@pytest.mark.parametrize("seed", range(40))
def test_undo_restores_exactly_the_earlier_tree(tmp_path: Path, seed: int) -> None:
    workshop = Workshop(tmp_path.resolve())
    vandal = Vandal(workshop.root, seed)
    trees: list[dict[bytes, object]] = []
    for _ in range(4):
        trees.append(tree_of(workshop.root))
        workshop.turn(lambda: [vandal.act() for _ in range(12)])
    end = tree_of(workshop.root)
    turns = [each for each in workshop.store.listed("ses_1") if each.kind == "turn"]
    result = workshop.undo(len(turns))
    assert result.conflicts == ()
    assert tree_of(workshop.root) == trees[0]
    assert workshop.redo().conflicts == ()
    assert tree_of(workshop.root) == end
    for expected in reversed(trees):
        if tree_of(workshop.root) != expected:
            assert workshop.undo().conflicts == ()
        assert tree_of(workshop.root) == expected


def test_a_users_folder_is_left_alone_whatever_is_undone(workshop: Workshop) -> None:
    """An empty folder stays, one that the turn created goes, one that somebody else filled stays with its contents."""
    (workshop.root / "empty").mkdir()
    workshop.turn(lambda: [workshop.write(name) for name in ("empty/a", "fresh/deep/b", "shared/c")])
    workshop.write("shared/own")
    assert workshop.undo().conflicts == ()
    assert sorted(path.name for path in workshop.root.rglob("*")) == ["empty", "own", "shared"]


def test_files_that_somebody_changed_since_are_named_and_left(workshop: Workshop) -> None:
    path = workshop.write("a", "before")
    other = workshop.write("b", "before")
    checkpoint = workshop.turn(lambda: [path.write_text("after"), other.write_text("after")])
    path.write_text("mine")
    refused = workshop.undo()
    assert (refused.restored, [each.path for each in refused.conflicts]) == ((), [str(path)])
    assert (path.read_text(), other.read_text()) == ("mine", "after")
    assert workshop.restore(checkpoint, other).restored == (str(other),)
    assert (path.read_text(), other.read_text()) == ("mine", "before")
    assert workshop.undo(force=True).restored == (str(path),)
    assert path.read_text() == "before"
    assert workshop.redo().restored == (str(path),)
    assert path.read_text() == "mine"


def test_several_turns_are_undone_at_once_if_nobody_made_changes_in_between(workshop: Workshop) -> None:
    path = workshop.write("a", "0")
    for text in "123":
        workshop.turn(lambda text=text: path.write_text(text))
    assert workshop.undo(2).restored == (str(path),)
    assert path.read_text() == "1"
    path.write_text("mine")
    assert [each.path for each in workshop.undo(5).conflicts] == [str(path)]
    path.write_text("1")
    assert workshop.undo(5).restored == (str(path),)
    assert path.read_text() == "0"


def test_an_ignored_file_is_stored_when_a_tool_touches_it(workshop: Workshop) -> None:
    workshop.write(".gitignore", "*.secret\nnode_modules/\n")
    early, late = workshop.write("a.secret", "one"), workshop.write("b.secret", "two")
    module = workshop.write("node_modules/x.js", "x")
    note_id, at = workshop.fresh()
    note = workshop.store.begin(note_id, "turn", workshop.occasion(), at, [str(early)])
    early.write_text("changed")
    workshop.store.amend(note, [str(late)])
    late.unlink()
    module.write_text("y")
    workshop.store.finish(note, [str(early), str(late), str(workshop.write("new.secret"))])
    assert workshop.undo().conflicts == ()
    assert (early.read_text(), late.read_text(), module.read_text()) == ("one", "two", "y")
    assert not (workshop.root / "new.secret").exists()


def test_a_file_that_the_turn_created_is_not_part_of_the_earlier_state(workshop: Workshop) -> None:
    note_id, at = workshop.fresh()
    note = workshop.store.begin(note_id, "turn", workshop.occasion(), at, [])
    fresh = workshop.write("fresh", "by a command")
    workshop.store.amend(note, [str(fresh)])
    fresh.write_text("by a tool")
    workshop.store.finish(note, [str(fresh)])
    assert workshop.undo().conflicts == ()
    assert not fresh.exists()


def test_a_file_above_the_size_limit_is_omitted_and_named(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path.resolve(), largest_file_bytes=1000)
    big, grown = workshop.write("big", "b" * 2000), workshop.write("grown", "small")
    workshop.turn(lambda: [big.write_text("b" * 3000), grown.write_text("g" * 2000)])
    (checkpoint,) = workshop.store.listed("ses_1")
    assert checkpoint.left_out == (str(big), str(grown))
    assert [each.path for each in workshop.undo().conflicts] == [str(grown)]
    assert workshop.undo(force=True).restored == (str(grown),)
    assert (big.stat().st_size, grown.read_text()) == (3000, "small")


def test_nested_repositories_are_stored_like_folders(workshop: Workshop) -> None:
    inner = workshop.write("libs/inner/code.c", "1").parent
    git(inner, "init", "-q")
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "x")
    deepest = workshop.write("libs/inner/deep/own/file", "1").parent
    git(deepest, "init", "-q")
    pointed = workshop.write("sub/file", "1")
    workshop.write("sub/.git", "gitdir: ../.git/modules/sub\n")
    before = tree_of(workshop.root)
    head = git(inner, "status", "--porcelain=v2", "--branch")
    workshop.turn(
        lambda: [
            (inner / "code.c").write_text("2"),
            (inner / "more.c").write_text("2"),
            (deepest / "file").unlink(),
            pointed.write_text("2"),
        ]
    )
    changes = {Path(each.path).name: each.change for each in workshop.store.listed("ses_1")[0].files}
    assert changes == {"code.c": "modified", "more.c": "added", "file": "modified"} | {
        "file": changes["file"]
    }
    assert workshop.undo().conflicts == ()
    assert tree_of(workshop.root) == before
    assert git(inner, "status", "--porcelain=v2", "--branch") == head


def test_a_folder_inside_a_repository_respects_the_ignore_files_above_it(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path.resolve())
    git(workshop.root, "init", "-q")
    workshop.write(".gitignore", "*.o\n")
    kept, ignored = workshop.write("part/a.c", "1"), workshop.write("part/a.o", "1")
    beside = workshop.write("other/b.c", "1")
    workshop.roots = (str(workshop.root / "part"),)
    workshop.turn(lambda: [path.write_text("2") for path in (kept, ignored, beside)])
    assert workshop.undo().restored == (str(kept),)
    assert [path.read_text() for path in (kept, ignored, beside)] == ["1", "2", "2"]
    shutil.rmtree(workshop.root / "part")
    (workshop.root / "part").mkdir()
    late = workshop.write("part/late.o", "1")
    note_id, at = workshop.fresh()
    note = workshop.store.begin(note_id, "turn", workshop.occasion(), at, [])
    workshop.store.amend(note, [str(late)])
    late.write_text("2")
    workshop.store.finish(note, [str(late)])
    assert workshop.undo().restored == (str(late),)


def test_a_tracked_file_that_is_also_ignored_is_stored(workshop: Workshop) -> None:
    git(workshop.root, "init", "-q")
    path = workshop.write("config.local", "1")
    git(workshop.root, "add", "-A")
    workshop.write(".gitignore", "*.local\n")
    untracked = workshop.write("other.local", "1")
    workshop.turn(lambda: [path.write_text("2"), untracked.write_text("2")])
    assert workshop.undo().restored == (str(path),)


def test_several_folders_are_one_checkpoint(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path.resolve())
    second, inner = tmp_path.resolve() / "second", workshop.root / "inner"
    second.mkdir()
    inner.mkdir()
    workshop.roots = (str(workshop.root), str(second), str(inner))
    workshop.turn(lambda: [workshop.write("a"), (second / "b").write_text("x"), workshop.write("inner/c")])
    (checkpoint,) = workshop.store.listed("ses_1")
    assert [Path(each.path).name for each in checkpoint.files] == ["b", "a", "c"]
    assert len(workshop.undo().restored) == 3


def test_renames_are_detected_and_texts_compared(workshop: Workshop) -> None:
    old = workshop.write("old.txt", "line\n" * 50)
    binary = workshop.write("pic")
    binary.write_bytes(b"\0\1")
    workshop.turn(
        lambda: [old.rename(workshop.root / "new.txt"), binary.write_bytes(b"\0\2"), workshop.write("t")]
    )
    (checkpoint,) = workshop.store.listed("ses_1")
    reported = {Path(each.path).name: (each.change, Path(each.old_path).name) for each in checkpoint.files}
    assert reported == {"new.txt": ("renamed", "old.txt"), "pic": ("modified", ""), "t": ("added", "")}
    notes = workshop.store.checkpoint_index.of_session("ses_1")
    texts = {Path(each.path).name: each for each in workshop.store.texts(notes[0], notes)}
    assert texts["pic"].is_binary
    assert (texts["t"].old_text, texts["t"].new_text) == (None, "x")
    assert (texts["old.txt"].old_text, texts["old.txt"].new_text) == ("line\n" * 50, None)


def test_a_turn_that_changed_nothing_leaves_no_checkpoint(workshop: Workshop) -> None:
    path = workshop.write("a", "1")
    workshop.turn(lambda: [path.write_text("2"), path.write_text("1")])
    assert workshop.store.listed("ses_1") == []
    assert not list((workshop.store.setup.shadows_folder).glob("*/refs/turns/*"))


def test_a_turn_without_an_end_is_undone_only_by_force(workshop: Workshop) -> None:
    path = workshop.write("a", "1")
    note_id, at = workshop.fresh()
    workshop.store.begin(note_id, "turn", workshop.occasion(), at, [])
    path.write_text("2")
    (checkpoint,) = workshop.store.listed("ses_1")
    assert checkpoint.is_torn
    assert [each.path for each in workshop.undo().conflicts] == [str(path)]
    assert workshop.undo(force=True).restored == (str(path),)
    assert path.read_text() == "1"


def test_permission_bits_are_restored(workshop: Workshop) -> None:
    path = workshop.write("key", "secret")
    path.chmod(0o600)
    script = workshop.write("run.sh", "#!/bin/sh\n")
    script.chmod(0o750)
    workshop.turn(lambda: [path.unlink(), script.chmod(0o640)])
    assert workshop.undo().conflicts == ()
    assert [oct(each.stat().st_mode & 0o777) for each in (path, script)] == ["0o600", "0o750"]


def test_a_damaged_shadow_repository_loses_only_its_own_content(workshop: Workshop) -> None:
    path = workshop.write("a", "1")
    workshop.turn(lambda: path.write_text("2"))
    (shadow,) = workshop.store.setup.shadows_folder.glob("*/index")
    shadow.write_bytes(b"rubbish")
    (shadow.parent / "index.lock").write_text("")
    (shadow.parent / "HEAD").unlink()
    workshop.turn(lambda: path.write_text("3"))
    assert workshop.undo(2).restored == (str(path),)
    assert path.read_text() == "1"
    workshop.turn(lambda: path.write_text("lost"))
    for lost in shadow.parent.glob("objects/??/*"):
        lost.unlink()
    workshop.turn(lambda: path.write_text("4"))
    assert workshop.undo().restored == (str(path),)
    assert path.read_text() == "lost"


@pytest.mark.parametrize("root", ["/", "home", "own"])
def test_folders_that_are_too_broad_are_rejected(workshop: Workshop, root: str) -> None:
    workshop.home.mkdir()
    place = {"/": "/", "home": str(workshop.root.parent), "own": str(workshop.home)}[root]
    with pytest.raises(CheckpointError):
        workshop.store.prepare((place,))
