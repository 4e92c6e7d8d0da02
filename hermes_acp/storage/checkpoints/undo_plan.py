"""Plan an undo file by file with a three-way comparison, without disk access."""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import Struct, field

from hermes_acp.storage.checkpoints.checkpoint_index import FolderSnapshot
from hermes_acp.storage.checkpoints.git_trees import (
    PIPE,
    USUAL_FOLDER,
    FileState,
    TreeDifference,
    UnknownState,
)

CHANGED_SINCE: Final = "it has been changed since"
NOT_KEPT: Final = "its earlier content was not kept: it held keys, was too large, or could not be read"
NOT_COMPARED: Final = "it cannot be compared: it holds keys, is too large, or cannot be read"
TORN: Final = "the agent's process ended during that turn, so it is unknown who changed it"
LOST: Final = "its earlier content is lost"


class FolderChange(Struct, frozen=True):
    """A checkpoint's changes in one folder; `not_kept_before` and `not_kept_after` are the files it left out.

    `new_folders` are folders that did not exist before it and are empty after it.
    """

    differences: tuple[TreeDifference, ...]
    not_kept_before: frozenset[bytes] = frozenset()
    not_kept_after: frozenset[bytes] = frozenset()
    new_folders: frozenset[bytes] = frozenset()
    is_torn: bool = False


class UndoPlan(Struct):
    """The target state of each path (None to delete it) with its current state, and the conflicts with reasons."""

    wanted: dict[bytes, FileState | None] = field(default_factory=dict[bytes, FileState | None])
    present: dict[bytes, FileState | UnknownState | None] = field(
        default_factory=dict[bytes, FileState | UnknownState | None]
    )
    conflicts: dict[bytes, str] = field(default_factory=dict[bytes, str])


def plan(
    parts: Sequence[FolderChange],
    now: Callable[[bytes], FileState | UnknownState | None],
    only: Collection[bytes] | None = None,
    *,
    force: bool = False,
) -> UndoPlan:
    """Plan the undo of the parts, newest first.

    `now` reads the disk, and `only` limits the plan to certain paths. With `force`, files that others have changed
    since are restored or deleted too. Content that was never stored cannot be restored even then.
    """
    planned, going = UndoPlan(), set[bytes]()
    for part in parts:
        going |= {each.path for each in part.differences if each.before is None} | part.new_folders
        for each in part.differences:
            if only is not None and each.path not in only:
                continue
            if each.path not in planned.present:
                planned.present[each.path] = now(each.path)
            _decide(planned, part, each, going, force=force)
    for path in planned.conflicts:
        planned.wanted.pop(path, None)
    unchanged = [path for path, state in planned.wanted.items() if state == planned.present[path]]
    for path in unchanged:
        del planned.wanted[path]
    return planned


def _decide(
    planned: UndoPlan, part: FolderChange, each: TreeDifference, going: set[bytes], *, force: bool
) -> None:
    path = each.path
    current = planned.wanted.get(path, planned.present[path])
    if isinstance(current, UnknownState) and any(other.startswith(path + b"/") for other in going):
        current = None  # a folder that a turn created, deleted with its content
    if path in part.not_kept_before:
        planned.conflicts[path] = NOT_KEPT
    elif force and not isinstance(current, UnknownState):
        planned.wanted[path] = each.before
    elif isinstance(current, UnknownState):
        planned.conflicts[path] = current.why
    elif current == each.before or (path in part.not_kept_after and current == FileState(PIPE, "")):
        planned.wanted[path] = each.before
    elif part.is_torn:
        planned.conflicts[path] = TORN
    elif path in part.not_kept_after:
        planned.conflicts[path] = NOT_COMPARED
    elif current == each.after:
        planned.wanted[path] = each.before
    else:
        planned.conflicts[path] = CHANGED_SINCE


def plan_empty_folders(
    places: Sequence[FolderSnapshot],
) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """Return the empty folders to keep or make, and those to delete, from the states of one folder, newest first.

    A state that covers only some files says nothing about folders elsewhere.
    """
    keeps, drops = frozenset[bytes](), frozenset[bytes]()
    for place in places:
        before, after = frozenset(place.empty_before), frozenset(place.empty_after)
        drops = (drops | (after - before)) - before
        keeps = before if place.folders is None else (keeps - place.folders) | before
    return keeps, drops


def plan_folder_modes(
    places: Sequence[FolderSnapshot], now: Callable[[bytes], int | None], *, force: bool
) -> dict[bytes, int]:
    """Return the permission bits to restore on folders that are missing or are as the newest turn left them.

    `places` lists the states of one folder, newest first; `now` reads the disk.
    """
    wanted: dict[bytes, int] = {}
    present: dict[bytes, int | None] = {}
    for place in places:
        before, after = dict(place.folders_before), dict(place.folders_after)
        for path in {**before, **after}:
            then, left = before.get(path, USUAL_FOLDER), after.get(path, USUAL_FOLDER)
            if path not in present:
                present[path] = now(path)
            current = wanted.get(path, present[path])
            if present[path] is None or (then != left and (current == left or force)):
                wanted[path] = then
    return {path: mode for path, mode in wanted.items() if mode != present[path]}
