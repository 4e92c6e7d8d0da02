"""Store the states of individual files of a workspace, at a cost independent of the number of other files.

This uses neither git nor a shadow's index, so it never waits for a snapshot's lock. It leaves out the same files as a
snapshot. All functions block and raise CheckpointError.
"""

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from msgspec import Struct, field, structs

from hermes_acp.storage.checkpoints.atomic_write import checkpoint_io_error
from hermes_acp.storage.checkpoints.checkpoint_index import FolderSnapshot
from hermes_acp.storage.checkpoints.git_trees import LINK, PLAIN, PROGRAM, USUAL_FOLDER, FileState, parents_of
from hermes_acp.storage.checkpoints.objects.loose_objects import LooseObjects
from hermes_acp.storage.checkpoints.repository_scan import WorkspaceWalk
from hermes_acp.storage.checkpoints.shadow_repository import Shadow, Snapshot
from hermes_acp.storage.checkpoints.snapshot_filter import filter_paths
from hermes_acp.storage.checkpoints.tree_edits import states_in, tree_with_states
from hermes_acp.storage.checkpoints.workspace_filesystem import WorkspaceFilesystem

MAX_ATTEMPTS: Final = 3


class NamedStates(Struct):
    """The states of some files and folders: for folders, unusual permission bits, and which of them are empty."""

    files: dict[bytes, FileState | None] = field(default_factory=dict[bytes, FileState | None])
    left_out: set[bytes] = field(default_factory=set[bytes])
    modes: dict[bytes, int] = field(default_factory=dict[bytes, int])
    folder_modes: dict[bytes, int] = field(default_factory=dict[bytes, int])
    empty_folders: set[bytes] = field(default_factory=set[bytes])


def store_states(shadow: Shadow, paths: Iterable[bytes], folders: Iterable[bytes] = ()) -> NamedStates:
    """Store the current contents of the files and return the states of the files and folders."""
    walk = WorkspaceWalk(shadow.git, shadow.root, shadow.own_home, shadow.bounds.max_files)
    found = NamedStates(dict.fromkeys(path for path in paths if walk.may_contain(path)))
    reached = [path for path in found.files if walk.takes(path)]  # paths through a link do not exist
    filtered = filter_paths(shadow.root, (), reached, shadow.bounds)
    found.left_out = filtered.left_out
    objects = LooseObjects(shadow.place / "objects")
    try:
        workspace = WorkspaceFilesystem(shadow.root)
    except OSError as error:
        raise checkpoint_io_error(Path(shadow.root), error) from error
    try:
        with closing(workspace) as filesystem:
            for path in filtered.update:
                _store(filesystem, objects, path, found)
            for folder in folders:
                mode = filesystem.folder_mode(folder)
                if mode is not None and mode != USUAL_FOLDER:
                    found.folder_modes[folder] = mode
                if mode is not None and filesystem.state(folder) is None:
                    found.empty_folders.add(folder)
    except OSError as error:
        raise checkpoint_io_error(shadow.place, error) from error
    return found


def _store(filesystem: WorkspaceFilesystem, objects: LooseObjects, path: bytes, found: NamedStates) -> None:
    """Store one file's content, or note that it is missing or cannot be read."""
    try:
        opened = filesystem.open_file(path)
    except OSError:
        found.left_out.add(path)
        return
    if isinstance(opened, bytes):
        found.files[path] = FileState(LINK, objects.store("blob", opened))
    elif opened is not None:
        try:
            _store_opened(opened, objects, path, found)
        finally:
            os.close(opened)


def _store_opened(descriptor: int, objects: LooseObjects, path: bytes, found: NamedStates) -> None:
    for _ in range(MAX_ATTEMPTS):
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            break
        os.lseek(descriptor, 0, os.SEEK_SET)
        if oid := objects.store_file(descriptor):
            found.files[path] = FileState(PROGRAM if about.st_mode & stat.S_IXUSR else PLAIN, oid)
            found.modes[path] = stat.S_IMODE(about.st_mode)
            return
    found.left_out.add(path)


def no_named_states(shadow: Shadow) -> FolderSnapshot:
    """Return an initial state before a change, which covers no files yet."""
    tree = _store_tree(shadow, {})
    return FolderSnapshot(shadow.root, shadow.name, tree, files_before=())


def with_files_before(
    shadow: Shadow, place: FolderSnapshot, paths: Sequence[bytes], folders: Collection[bytes] = ()
) -> FolderSnapshot:
    """Add more files, which are about to change, to the state before a change.

    `folders` are the folders that are about to change themselves.
    """
    known = dict(place.files_before or ())
    fresh = [path for path in paths if path not in known]
    found = store_states(shadow, fresh, _folders(fresh, folders) - (place.folders or frozenset()))
    _leave_out_clashing(found, known)
    files = {**known, **found.files}
    return structs.replace(
        place,
        before=_store_tree(shadow, files),
        files_before=tuple(files.items()),
        modes_before=(*place.modes_before, *found.modes.items()),
        left_before=_sorted({*place.left_before, *found.left_out}),
        empty_before=_sorted({*place.empty_before, *found.empty_folders}),
        folders_before=(*place.folders_before, *found.folder_modes.items()),
    )


def _leave_out_clashing(found: NamedStates, known: Mapping[bytes, FileState | None]) -> None:
    """Leave out files that clash with those stored earlier, because a file and a folder share a path."""
    stored = {path for path, state in known.items() if state}
    above = {folder for path in stored for folder in parents_of(path)}
    for path, state in found.files.items():
        if state and (path in above or not stored.isdisjoint(parents_of(path))):
            found.files[path] = None
            found.left_out.add(path)


def with_files_after(
    shadow: Shadow, place: FolderSnapshot, folders: Collection[bytes] = ()
) -> FolderSnapshot:
    """Return the snapshot with the current states of its files as those after the change."""
    paths = [path for path, _ in place.files_before or ()]
    found = store_states(shadow, paths, _folders(paths, folders))
    return structs.replace(
        place,
        after=_store_tree(shadow, found.files),
        left_after=_sorted(found.left_out),
        empty_after=_sorted(found.empty_folders),
        folders_after=tuple(found.folder_modes.items()),
    )


def whole_folder_before(shadow: Shadow, place: FolderSnapshot, snapshot: Snapshot) -> FolderSnapshot:
    """Compute the whole folder's state before a turn that has already changed some files, from a snapshot of its
    current state.
    """
    files, folders = dict(place.files_before or ()), place.folders or frozenset()
    with shadow.held():
        tree = tree_with_states(shadow.git, snapshot.tree, files)
    modes = {**shadow.folder_modes(snapshot.tree)}
    return structs.replace(
        place,
        before=tree,
        files_before=None,
        left_before=_sorted({*place.left_before, *(set(snapshot.left_out) - files.keys())}),
        empty_before=_sorted({*place.empty_before, *(set(snapshot.empty_folders) - folders)}),
        folders_before=(
            *place.folders_before,
            *((folder, mode) for folder, mode in modes.items() if folder not in folders),
        ),
    )


def tree_after(
    shadow: Shadow, place: FolderSnapshot, later: Iterable[FolderSnapshot], *, or_now: bool
) -> str:
    """Return the tree after an unfinished change, taken from the states before later checkpoints of the folder.

    Files that none of these covers are read from the disk with `or_now`, and otherwise count as unchanged. Without a
    later checkpoint, return an empty string.
    """
    edits, whole = dict[bytes, FileState | None](), ""
    is_alone = True
    for other in later:
        is_alone = False
        if other.files_before is None:
            whole = other.before
            break
        for path, state in other.files_before:
            if path not in other.left_before:
                edits.setdefault(path, state)
    if is_alone and not or_now:
        return ""
    if place.files_before is not None:
        return _store_tree(
            shadow, _named_after(shadow, dict(place.files_before), edits, whole, or_now=or_now)
        )
    if not whole and not or_now:
        return ""
    whole = whole or shadow.take().tree
    with shadow.held():
        return tree_with_states(shadow.git, whole, edits)


def _named_after(
    shadow: Shadow,
    files: Mapping[bytes, FileState | None],
    edits: Mapping[bytes, FileState | None],
    whole: str,
    *,
    or_now: bool,
) -> dict[bytes, FileState | None]:
    known = {path: edits[path] for path in files if path in edits}
    missing = [path for path in files if path not in edits]
    if whole:
        found = states_in(shadow.git, whole, missing)
        return {**known, **{path: found.get(path) for path in missing}}
    if or_now:
        return {**known, **store_states(shadow, missing).files}
    return {**files, **known}


def _store_tree(shadow: Shadow, files: Mapping[bytes, FileState | None]) -> str:
    stored = {path: state for path, state in files.items() if state}
    try:
        return LooseObjects(shadow.place / "objects").store_tree(stored)
    except OSError as error:
        raise checkpoint_io_error(shadow.place, error) from error


def _folders(paths: Iterable[bytes], folders: Collection[bytes]) -> frozenset[bytes]:
    """Return the given folders, their parents, and the parents of the paths."""
    above = (folder for path in (*paths, *folders) for folder in parents_of(path))
    return frozenset(above).union(folders)


def _sorted(paths: Iterable[bytes]) -> tuple[bytes, ...]:
    return tuple(sorted(paths))
