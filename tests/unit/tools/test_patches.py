"""Patches in both formats: how they are parsed, where hunks are applied, and which are rejected as a whole."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.core.errors import BadRequest, HermesError, WorkspaceError
from hermes_acp.core.event_types import Diff
from hermes_acp.core.proposals import Deletes, Writes
from hermes_acp.frontends.acp.v2.git_patches import git_patch
from hermes_acp.tools.editing.hunk_application import apply_hunks
from hermes_acp.tools.editing.patch_parsing import read_patch
from tests.unit.tools.tool_calling import MemoryWorkspace, perform, propose

pytestmark = pytest.mark.anyio
MANY = """*** Begin Patch
*** Add File: new/file.txt
+first
+
+last
*** Update File: a.py
@@ def two():
-    return 2
+    return "two"
*** Delete File: gone
*** Update File: old name
*** Move to: new name
@@
-x
+y
*** End Patch"""
FILES = {
    "a.py": b"def one():\n    return 2\n\ndef two():\n    return 2\n",
    "gone": b"\x00binary",
    "old name": b"x\nrest",
}


async def test_one_patch_adds_changes_deletes_and_moves() -> None:
    workspace = MemoryWorkspace(FILES)
    proposal = await propose("apply_patch", workspace, patch=MANY)
    assert proposal.title == "Patch 4 files: new/file.txt, a.py, gone and 2 more"
    assert set(proposal.effects) == {
        Writes("/project/new/file.txt"),
        Writes("/project/a.py"),
        Deletes("/project/gone"),
        Writes("/project/new name"),
        Deletes("/project/old name"),
    }
    assert len({diff.path for diff in proposal.diffs}) == len(proposal.diffs) == 5
    assert [version.path for version in proposal.replaces] == ["/project/a.py", "/project/old name"]
    result = await perform("apply_patch", workspace, patch=MANY)
    assert not result.is_error, result.text
    assert workspace.files == {
        "/project/a.py": b'def one():\n    return 2\n\ndef two():\n    return "two"\n',
        "/project/new/file.txt": b"first\n\nlast\n",
        "/project/new name": b"y\nrest",
    }


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("nonsense", "does not contain any files"),
        ("*** Begin Patch\n*** Update File: a.py\n@@\n-x\n", "is cut off"),
        (
            "*** Begin Patch\n*** Update File: a.py\n@@\n-    return 2\n+x\n*** End Patch",
            "more than one place, at lines 2, 5",
        ),
        ("*** Begin Patch\n*** Update File: a.py\n@@\n-nowhere\n+x\n*** End Patch", "matches nowhere"),
        (
            "*** Begin Patch\n*** Update File: a.py\n@@ class X\n-x\n+y\n*** End Patch",
            "there is no line 'class X'",
        ),
        ("*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch", "There is already a file a.py"),
        ("*** Begin Patch\n*** Delete File: none\n*** End Patch", "There is no file"),
        (
            "*** Begin Patch\n*** Update File: a.py\n*** Move to: gone\n*** End Patch",
            "There is already a file gone",
        ),
        ("*** Begin Patch\n*** Delete File: gone\n*** Delete File: gone\n*** End Patch", "twice"),
        ("*** Begin Patch\n*** Update File: gone\n@@\n-x\n*** End Patch", "not text"),
        ("--- a/a.py\n+++ b/a.py\n@@ nonsense @@\n x\n", "not a hunk header"),
        ("diff --git a/a.py b/a.py\nGIT binary patch\n", "Binary patches"),
    ],
)
async def test_a_patch_that_does_not_fit_says_why(patch: str, said: str) -> None:
    with pytest.raises(HermesError) as caught:
        await propose("apply_patch", MemoryWorkspace(FILES), patch=patch)
    assert said in caught.value.sentence()


async def test_if_one_file_does_not_match_no_change_is_proposed() -> None:
    patch = MANY.replace("-x\n", "-not there\n")
    with pytest.raises(WorkspaceError, match=r"old name: .* No part of the patch was applied"):
        await propose("apply_patch", MemoryWorkspace(FILES), patch=patch)


async def test_if_one_write_fails_those_before_it_are_undone() -> None:
    class Full(MemoryWorkspace):
        async def write(self, path: str, content: bytes) -> None:
            if path.endswith("new name"):
                raise WorkspaceError("The disk is full.")
            await super().write(path, content)

    workspace = Full(FILES)
    before = dict(workspace.files)
    proposal = await propose("apply_patch", workspace, patch=MANY)
    with pytest.raises(WorkspaceError, match="The disk is full"):
        await perform("apply_patch", workspace, patch=MANY)
    assert proposal.diffs
    assert workspace.files == before


async def test_a_file_changed_in_the_meantime_is_left_alone() -> None:
    workspace = MemoryWorkspace(FILES)
    proposal = await propose("apply_patch", workspace, patch=MANY)
    workspace.files["/project/a.py"] = b"other\n"
    before = dict(workspace.files)
    from tests.unit.tools.tool_calling import Report

    result = await proposal.perform(Report())
    assert result.is_error
    assert workspace.files == before


async def test_a_unified_diff_with_gits_headers() -> None:
    patch = (
        "diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/old name b/moved\nsimilarity index 90%\nrename from old name\nrename to moved\n"
        "--- a/old name\n+++ b/moved\n@@ -1,2 +1,2 @@\n-x\n+y\n rest\n\\ No newline at end of file\n"
        "--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+made\n"
        "--- a/a.py\t2026-01-01\n+++ b/a.py\t2026-01-02\n@@ -4,2 +4,2 @@ def two():\n"
        " def two():\n-    return 2\n+    return 3\n"
    )
    workspace = MemoryWorkspace(FILES)
    result = await perform("apply_patch", workspace, patch=patch)
    assert not result.is_error, result.text
    assert workspace.files == {
        "/project/a.py": b"def one():\n    return 2\n\ndef two():\n    return 3\n",
        "/project/moved": b"y\nrest",
        "/project/made": b"made\n",
    }


def test_line_ends_spaces_and_quotes_are_matched_and_preserved() -> None:
    text = "one \r\ntwo\nsay \u201chi\u201d\r\nend\r\n"
    (file,) = read_patch('*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+2\n say "hi"\n*** End Patch')
    assert apply_hunks(text, file.hunks, "\r\n") == "one \r\n2\r\nsay \u201chi\u201d\r\nend\r\n"


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        ("@@\n+end\n", "a\nb\na\nb\nend\n"),
        ("@@ b\n+x\n", "a\nb\nx\na\nb\n"),
        ("@@\n-b\n+c\n*** End of File\n", "a\nb\na\nc\n"),
        ("@@ a\n@@ a\n-b\n+c\n", "a\nb\na\nc\n"),
    ],
)
def test_positions_not_given_as_lines(patch: str, after: str) -> None:
    (file,) = read_patch(f"*** Begin Patch\n*** Update File: a\n{patch}*** End Patch")
    assert apply_hunks("a\nb\na\nb\n", file.hunks, "\n") == after


LINES = st.lists(st.sampled_from(["a", "b", " b", "", "-- c", "++ d", "@@ e"]), min_size=1, max_size=12)


@settings(max_examples=60)
@given(LINES, LINES, st.booleans(), st.booleans())
def test_a_real_patch_is_applied_as_git_applies_it(
    old: list[str], new: list[str], old_end: bool, new_end: bool
) -> None:
    before = "\n".join(old) + "\n" * (old_end or old[-1] == "")
    after = "\n".join(new) + "\n" * (new_end or new[-1] == "")
    patch = git_patch([Diff("/p", before, after)])
    if before == after:
        return
    (file,) = read_patch(patch)
    assert apply_hunks(before, file.hunks, "\n") == after


def test_git_agrees_about_a_patch_to_part_of_a_file(tmp_path: Path) -> None:
    lines = [f"{number}\n" for number in range(100)]
    (tmp_path / "p").write_text("".join(lines))
    diff = Diff("/p", "".join(lines[40:60]), "".join([*lines[40:50], "new\n", *lines[51:60]]), first_line=41)
    subprocess.run(["git", "apply", "-"], input=git_patch([diff]).encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "p").read_text() == "".join([*lines[:50], "new\n", *lines[51:]])


def test_a_patch_that_names_no_file() -> None:
    with pytest.raises(BadRequest):
        read_patch("@@ -1 +1 @@\n-a\n+b\n")
