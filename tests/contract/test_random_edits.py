"""Turns that edit named files at random, with commands in between: undo restores exactly the earlier tree."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.contract.test_checkpoints import CONTENTS, Vandal, tree_of
from tests.contract.test_partial_checkpoints import EditWorkshop

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


class Editor(Vandal):
    """Changes files after naming them."""

    keeps_modes = False
    changes = 0

    def change(self, path: bytes) -> None:
        kinds = ("write", "write", "delete", "link", "mode")
        try:
            match self.random.choice(kinds[:-1] if self.keeps_modes else kinds):
                case "delete":
                    os.unlink(path)
                case "mode":
                    os.chmod(path, 0o600 if os.lstat(path).st_mode & 0o100 else 0o750)
                    self.write(path)
                case "link":
                    self.write(path)
                    os.unlink(path)
                    os.symlink(b"../x", path)
                case _:
                    self.write(path)
        except OSError:
            return

    def write(self, path: bytes) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.islink(path):
            os.unlink(path)
        with open(path, "wb") as file:
            self.changes += 1
            file.write(self.random.choice(CONTENTS) + b"%d" % self.changes)

    def named(self) -> bytes:
        while True:
            path = self.path()
            if not os.path.isdir(path) and os.path.realpath(os.path.dirname(path)) == os.path.dirname(path):
                return path


def act_in_turn(workshop: EditWorkshop, editor: Editor, kinds: str) -> str:
    note = workshop.begin(is_whole=kinds.startswith("c"))
    touched: list[str] = []
    for kind in kinds:
        if kind == "e":
            path = editor.named()
            touched.append(os.fsdecode(path))
            workshop.store.amend(note, touched[-1:])
            editor.change(path)
        else:
            workshop.store.amend(note, [], is_whole=True)
            for _ in range(6):
                editor.act()
    workshop.store.finish(note, touched)
    return note.id


@pytest.mark.parametrize("seed", range(8))
def test_undo_restores_exactly_the_earlier_tree_whatever_was_named(tmp_path: Path, seed: int) -> None:
    workshop = EditWorkshop(tmp_path.resolve())
    editor = Editor(workshop.root, seed)
    for _ in range(25):
        editor.act()
    for folder in sorted(workshop.root.rglob("*"))[::3]:
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(0o700)
    trees: list[dict[bytes, object]] = []
    ids: list[str] = []
    mixed = ["eeee", "eece", "c", "ee", "ce", "eeeeee"] if seed % 2 else ["eeee", "eee", "ee", "e", "eeeeee"]
    editor.keeps_modes = bool(seed % 2)  # A snapshot stores fewer permission bits.
    for kinds in random.Random(seed).sample(mixed, 5):
        trees.append(tree_of(workshop.root))
        ids.append(act_in_turn(workshop, editor, kinds))
    end = tree_of(workshop.root)
    stored = {each.id for each in workshop.store.listed("ses_1")}
    assert workshop.undo(len(stored)).conflicts == ()
    assert tree_of(workshop.root) == trees[0]
    assert workshop.redo().conflicts == ()
    assert tree_of(workshop.root) == end
    for expected, checkpoint in zip(reversed(trees), reversed(ids), strict=True):
        if checkpoint in stored:
            assert workshop.undo().conflicts == ()
        assert tree_of(workshop.root) == expected
