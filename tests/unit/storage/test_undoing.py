"""Effects of an undo on each file, and conflicts that prevent it."""

import pytest

from hermes_acp.storage.checkpoints.checkpoint_index import FolderSnapshot
from hermes_acp.storage.checkpoints.git_trees import (
    PLAIN,
    FileState,
    TreeDifference,
    UnknownState,
    blob_name,
    parents_of,
    read_differences,
    read_listing,
)
from hermes_acp.storage.checkpoints.undo_plan import (
    CHANGED_SINCE,
    NOT_COMPARED,
    NOT_KEPT,
    TORN,
    FolderChange,
    plan,
    plan_empty_folders,
    plan_folder_modes,
)

ONE, TWO, THREE = (FileState(PLAIN, blob_name(content)) for content in (b"1", b"2", b"3"))
FOLDER = UnknownState("there is a folder at that path")


@pytest.mark.parametrize(
    ("before", "after", "now", "becomes"),
    [(ONE, TWO, TWO, ONE), (None, TWO, TWO, None), (ONE, None, None, ONE)],
)
def test_a_file_as_the_turn_left_it_is_restored(
    before: FileState | None, after: FileState | None, now: FileState | None, becomes: FileState | None
) -> None:
    planned = plan([FolderChange((TreeDifference(b"f", before, after),))], lambda path: now)
    assert (planned.wanted, planned.conflicts) == ({b"f": becomes}, {})


@pytest.mark.parametrize("now", [THREE, None, UnknownState("it is not a file")])
def test_a_file_changed_since_then_is_a_conflict(now: FileState | UnknownState | None) -> None:
    planned = plan([FolderChange((TreeDifference(b"f", ONE, TWO),))], lambda path: now)
    why = now.why if isinstance(now, UnknownState) else CHANGED_SINCE
    assert (planned.wanted, planned.conflicts) == ({}, {b"f": why})
    forced = plan([FolderChange((TreeDifference(b"f", ONE, TWO),))], lambda path: now, force=True)
    assert forced.wanted == ({} if isinstance(now, UnknownState) else {b"f": ONE})


def test_a_file_already_restored_is_left() -> None:
    planned = plan([FolderChange((TreeDifference(b"f", ONE, TWO),))], lambda path: ONE)
    assert (planned.wanted, planned.conflicts) == ({}, {})


def test_several_turns_are_undone_one_after_another() -> None:
    newest, oldest = (
        FolderChange((TreeDifference(b"f", TWO, THREE),)),
        FolderChange((TreeDifference(b"f", ONE, TWO),)),
    )
    assert plan([newest, oldest], lambda path: THREE).wanted == {b"f": ONE}
    between = plan([newest, FolderChange((TreeDifference(b"f", None, ONE),))], lambda path: THREE)
    assert (between.wanted, between.conflicts) == ({}, {b"f": CHANGED_SINCE})
    back_and_forth = FolderChange((TreeDifference(b"f", THREE, TWO),))
    assert plan([newest, back_and_forth], lambda path: THREE).wanted == {}


def test_a_file_that_was_not_stored_is_distinguished() -> None:
    known = frozenset({b"f"})
    change = (TreeDifference(b"f", ONE, TWO),)
    assert plan([FolderChange(change, not_kept_before=known)], lambda path: TWO).conflicts == {b"f": NOT_KEPT}
    assert plan([FolderChange(change, not_kept_before=known)], lambda path: TWO, force=True).conflicts == {
        b"f": NOT_KEPT
    }
    assert plan([FolderChange(change, not_kept_after=known)], lambda path: TWO).conflicts == {
        b"f": NOT_COMPARED
    }
    assert plan([FolderChange(change, is_torn=True)], lambda path: TWO).conflicts == {b"f": TORN}


def test_a_folder_is_removed_only_if_it_goes_with_the_turn() -> None:
    file = TreeDifference(b"d", ONE, None)
    inside = TreeDifference(b"d/x", None, TWO)
    present = {b"d": FOLDER, b"d/x": TWO}
    assert plan([FolderChange((file, inside))], present.__getitem__).wanted == {b"d": ONE, b"d/x": None}
    assert plan([FolderChange((file,))], present.__getitem__).conflicts == {b"d": FOLDER.why}
    assert plan([FolderChange((file,), new_folders=frozenset({b"d/e"}))], present.__getitem__).wanted == {
        b"d": ONE
    }


def test_only_the_selected_files_are_planned() -> None:
    both = FolderChange((TreeDifference(b"a", ONE, TWO), TreeDifference(b"b", ONE, TWO)))
    assert plan([both], lambda path: TWO, {b"b"}).wanted == {b"b": ONE}


def test_gits_output_is_parsed_with_any_file_name() -> None:
    listed = read_listing(b"C a\nb\0R a\nb\0? c d\0? \xff/\0? -x\0")
    assert (listed.changed, listed.fresh, listed.folders) == ([b"a\nb"], [b"c d", b"-x"], [b"\xff"])
    a, b = "a" * 40, "b" * 40
    raw = (
        f":000000 100644 {'0' * 40} {a} A\0new\0:100644 100755 {a} {b} R090\0from:\0to\n\0"
        f":120000 000000 {b} {'0' * 40} D\0link\0"
    )
    found = list(read_differences(raw.encode()))
    assert [(each.path, each.change, each.old_path) for each in found] == [
        (b"new", "added", b""),
        (b"to\n", "renamed", b"from:"),
        (b"link", "deleted", b""),
    ]
    assert list(parents_of(b"a/b/c")) == [b"a/b", b"a"]
    assert blob_name(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def whole(before: tuple[bytes, ...], after: tuple[bytes, ...]) -> FolderSnapshot:
    return FolderSnapshot("/p", "s", "b", "a", empty_before=before, empty_after=after)


def named(*paths: bytes, before: tuple[bytes, ...] = (), after: tuple[bytes, ...] = ()) -> FolderSnapshot:
    files = tuple((path, None) for path in paths)
    return FolderSnapshot("/p", "s", "b", "a", empty_before=before, empty_after=after, files_before=files)


def test_only_empty_folders_made_by_the_turn_are_removed() -> None:
    newest, oldest = whole((b"theirs", b"used"), (b"theirs", b"made")), whole((b"gone",), (b"used",))
    assert plan_empty_folders([newest, oldest]) == ({b"gone"}, {b"made", b"used"})
    only_files = named(b"d/f", before=(b"d",))
    assert plan_empty_folders([newest, only_files]) == ({b"theirs", b"used", b"d"}, {b"made"})
    assert plan_empty_folders([only_files, oldest]) == ({b"gone"}, {b"used"})
    assert plan_empty_folders([named(b"d/f", after=(b"d",))]) == (set(), {b"d"})


def test_a_folders_mode_is_restored_if_the_turn_was_the_last_to_set_it() -> None:
    def modes(before: dict[bytes, int], after: dict[bytes, int], *paths: bytes) -> FolderSnapshot:
        place = named(*paths) if paths else whole((), ())
        place.folders_before, place.folders_after = tuple(before.items()), tuple(after.items())
        return place

    newest = modes({b"a": 0o700, b"other": 0o750}, {b"a": 0o777, b"other": 0o750})
    oldest = modes({}, {b"a": 0o700}, b"a/f")
    present = {b"a": 0o777, b"other": 0o750}
    assert plan_folder_modes([newest], present.get, force=False) == {b"a": 0o700}
    assert plan_folder_modes([newest, oldest], present.get, force=False) == {b"a": 0o755}
    assert plan_folder_modes([newest], {b"a": 0o711, b"other": 0o750}.get, force=False) == {}
    assert plan_folder_modes([newest], {b"a": 0o711, b"other": 0o750}.get, force=True) == {b"a": 0o700}
    assert plan_folder_modes([newest], {b"a": 0o777}.get, force=False) == {b"a": 0o700, b"other": 0o750}
