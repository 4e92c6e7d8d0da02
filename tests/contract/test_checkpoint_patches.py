"""The output of `checkpoints diff`, applied with the real `git apply`, turns the tree before into the tree after."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.contract.test_checkpoints import Workshop, tree_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def set_up(root: Path) -> None:
    (root / "docs").mkdir()
    for name, content in (
        ("text.txt", b"one\ntwo\nthree\n"),
        ("no newline", b"one"),
        ("picture.bin", b"\0\1\2" * 50),
        ("old name.py", b"".join(b"line %d\n" % number for number in range(40))),
        ("moved.bin", bytes(range(256)) * 9),
        ("gone.txt", b"gone\n"),
        ("gone.bin", b"\0gone"),
        ("tool.sh", b"#!/bin/sh\n"),
        ('docs/\xfc "q".md', b"# Title\r\n"),
    ):
        (root / name).write_bytes(content)
    (root / "link").symlink_to("text.txt")


def change(root: Path) -> None:
    (root / "text.txt").write_bytes(b"one\n2\nthree\nfour\n")
    (root / "no newline").write_bytes(b"one\ntwo")
    (root / "picture.bin").write_bytes(b"\0\1\3" * 60)
    (root / "old name.py").rename(root / "docs" / "new name.py")
    with (root / "docs" / "new name.py").open("ab") as file:
        file.write(b"more\n")
    (root / "moved.bin").rename(root / "docs" / "moved.bin")
    (root / "gone.txt").unlink()
    (root / "gone.bin").unlink()
    (root / "tool.sh").chmod(0o755)
    (root / "docs" / '\xfc "q".md').write_bytes(b"# Title\r\n\r\nText\r\n")
    (root / "empty").write_bytes(b"")
    (root / "new.bin").write_bytes(b"\0new")
    (root / "new.txt").write_bytes(b"diff --git a/x b/x\nrename from x\n@@ -1 +1 @@\n")
    (root / "link").unlink()
    (root / "link").symlink_to("new.txt")


def apply(patch: bytes, folder: Path) -> None:
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn"], input=patch, cwd=folder, env=variables, capture_output=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()


def relative(root: Path) -> dict[bytes, object]:
    return {path.removeprefix(os.fsencode(root)): content for path, content in tree_of(root).items()}


@pytest.mark.parametrize("below", ["", "pkg", "pkg/in ner", "pkg/\xfc"])
@pytest.mark.parametrize("is_repository", [False, True])
def test_a_patch_turns_the_tree_before_into_the_tree_after(
    tmp_path: Path, below: str, is_repository: bool
) -> None:
    workshop = Workshop(tmp_path)
    top, root = workshop.root, workshop.root / below
    root.mkdir(parents=True, exist_ok=True)
    if is_repository:
        subprocess.run(["git", "init", "-q", str(top)], check=True, timeout=60)
    workshop.roots = (str(root),)
    set_up(root)
    before = tmp_path / "before"
    shutil.copytree(top, before, symlinks=True)
    checkpoint = workshop.turn(lambda: change(root))
    ((folder, patch),) = workshop.store.patches(*workshop.store.find("ses_1", checkpoint))
    assert folder == str(top if is_repository else root)
    assert str(tmp_path).encode() not in patch
    assert b"\nGIT binary patch\n" in patch
    assert b"\nnew file mode 100644\n" in patch
    assert b"\nold mode 100644\nnew mode 100755\n" in patch
    apply(patch, before if is_repository else before / below)
    assert relative(before / below) == relative(root)
