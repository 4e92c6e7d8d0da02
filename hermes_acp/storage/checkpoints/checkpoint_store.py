"""The checkpoints of a home folder: take, list, compare and undo them.

An undo is a checkpoint too. Everything here blocks; `checkpoint_manager` calls it from worker threads.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Final, Literal

from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.checkpoint_ports import (
    Checkpoint,
    CheckpointContext,
    CheckpointError,
    FileChange,
    FileTexts,
    UndoConflict,
)
from hermes_acp.git.work_tree import find_work_tree
from hermes_acp.storage.checkpoints.atomic_write import checkpoint_io_error
from hermes_acp.storage.checkpoints.checkpoint_index import CheckpointIndex, CheckpointRecord, FolderSnapshot
from hermes_acp.storage.checkpoints.gc_refs import GcRefs, protect_new_objects
from hermes_acp.storage.checkpoints.git_trees import FileState, TreeDifference
from hermes_acp.storage.checkpoints.named_files import (
    no_named_states,
    tree_after,
    whole_folder_before,
    with_files_after,
    with_files_before,
)
from hermes_acp.storage.checkpoints.objects.borrowed_objects import BorrowedObjects
from hermes_acp.storage.checkpoints.patch_text import make_patch
from hermes_acp.storage.checkpoints.shadow_git import find_git
from hermes_acp.storage.checkpoints.shadow_repository import Shadow, ShadowCache
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits

MAX_TEXT_BYTES: Final = 4 << 20
EXAMINED_BYTES: Final = 8000


class StoreSetup(Struct, frozen=True):
    """The setup of a store: the environment variables for git, the home folder, and the snapshot limits."""

    home: Path
    variables: Mapping[str, str]
    bounds: SnapshotLimits
    private: Path | None = None
    """The folder with the homes of all profiles, or None if it is the home folder."""

    @property
    def shadows_folder(self) -> Path:
        """The folder that contains the shadows."""
        return self.home / "checkpoints"


class CheckpointStore:
    """Stores checkpoints. Methods raise CheckpointError; setting `stop` aborts the running method."""

    def __init__(self, setup: StoreSetup, stop: Event, memories: dict[str, ShadowCache]) -> None:
        self.setup = setup
        self.checkpoint_index = CheckpointIndex(setup.shadows_folder / "turns")
        self.stop = stop
        self._memories = memories

    def shadow(self, root: str, name: str = "") -> Shadow:
        """Return a folder's shadow; `name` is the shadow's name when the checkpoint was taken."""
        program = find_git(self.setup.variables, (root,))
        home = str((self.setup.private or self.setup.home).resolve())
        self._check_place(root, home)
        shadow = Shadow(self.setup.shadows_folder, root, program, self.setup.bounds, home)
        if name and name != shadow.name:
            shadow.use_name(name)
        shadow.git.stop = self.stop
        shadow.memory = self._memories.setdefault(shadow.name, shadow.memory)
        return shadow

    def _check_place(self, root: str, home: str) -> None:
        if root == home or root.startswith(home + "/"):
            raise CheckpointError(f"{root} is inside the agent's own folder, so it has no checkpoints.")
        user_home = os.path.realpath(self.setup.variables.get("HOME") or "/")
        if os.path.realpath(root) in ("/", user_home):
            raise CheckpointError(
                f"{root} is too broad for checkpoints: changes made there cannot be undone.",
                hint="Open the folder of one project.",
            )

    def prepare(self, roots: Sequence[str]) -> None:
        """Read the folders in advance, so that the first checkpoint is fast."""
        for root in outermost_folders(roots):
            self.shadow(root).take()

    def copy_borrowed(self, roots: Sequence[str]) -> None:
        """Copy the objects that the first snapshots of these folders borrowed from their repositories."""
        for root in outermost_folders(roots):
            shadow = self.shadow(root)
            try:
                BorrowedObjects(shadow.git).copy_all(shadow.held)
            except OSError as error:
                raise checkpoint_io_error(shadow.place, error) from error

    def begin(
        self,
        note_id: str,
        kind: Literal["turn", "undo", "redo"],
        occasion: CheckpointContext,
        created_at: float,
        touched: Sequence[str],
        *,
        is_whole: bool = True,
        folders: Sequence[str] = (),
    ) -> CheckpointRecord:
        """Record the states before a change, either of whole folders or only of the files in `touched`.

        `folders` are those that are created, deleted or given other permission bits.
        """
        is_whole = is_whole or not _are_files(touched)
        places: list[FolderSnapshot] = []
        for root in outermost_folders(occasion.roots):
            shadow = self.shadow(root)
            paths = paths_within(root, touched)
            if is_whole:
                places.append(self._whole_before(shadow, note_id, paths))
            else:
                places.append(self._files_before(shadow, note_id, None, paths, paths_within(root, folders)))
        note = CheckpointRecord(
            note_id, occasion.session_id, occasion.turn_id, created_at, occasion.title, kind, places
        )
        self.checkpoint_index.write(note)
        return note

    def _whole_before(self, shadow: Shadow, note_id: str, touched: Sequence[bytes]) -> FolderSnapshot:
        snapshot = shadow.take(touched)
        shadow.gc_refs.add_ref(note_id, "before", snapshot.tree)
        return FolderSnapshot(
            shadow.root,
            shadow.name,
            snapshot.tree,
            empty_before=snapshot.empty_folders,
            left_before=snapshot.left_out,
            folders_before=tuple(shadow.folder_modes(snapshot.tree).items()),
        )

    def _files_before(
        self,
        shadow: Shadow,
        note_id: str,
        place: FolderSnapshot | None,
        touched: Sequence[bytes],
        folders: Sequence[bytes] = (),
    ) -> FolderSnapshot:
        shadow.make()
        with protect_new_objects(shadow.place):
            place = with_files_before(shadow, place or no_named_states(shadow), touched, folders)
            shadow.gc_refs.add_ref(note_id, "before", place.before)
        return place

    def amend(self, note: CheckpointRecord, touched: Sequence[str], *, is_whole: bool = False) -> None:
        """Add more files that are about to change to the states before; with `is_whole`, add everything else too."""
        is_whole = is_whole or not _are_files(touched)
        for number, place in enumerate(note.places):
            shadow, paths = self.shadow(place.root, place.shadow), paths_within(place.root, touched)
            if place.files_before is None:
                tree = shadow.amend(place.before, paths) if paths else place.before
                amended = structs.replace(place, before=tree)
            elif is_whole:
                known = (path for path, _ in place.files_before)
                amended = whole_folder_before(shadow, place, shadow.take((*known, *paths)))
            else:
                amended = self._files_before(shadow, note.id, place, paths) if paths else place
            if amended != place:
                if amended.files_before is None:  # otherwise it is already referenced
                    shadow.gc_refs.add_ref(note.id, "before", amended.before)
                note.places[number] = amended
                self.checkpoint_index.write(note)

    def finish(
        self, note: CheckpointRecord, touched: Sequence[str], folders: Sequence[str] = ()
    ) -> list[FileChange]:
        """Record the states after the change and return what changed; without changes, delete the checkpoint."""
        changes: list[FileChange] = []
        for number, place in enumerate(note.places):
            if place.files_before is None:
                place = self._whole_after(note.id, place, paths_within(place.root, touched))
            else:
                shadow = self.shadow(place.root, place.shadow)
                with protect_new_objects(shadow.place):
                    place = with_files_after(shadow, place, paths_within(place.root, folders))
                    shadow.gc_refs.add_ref(note.id, "after", place.after)
            note.places[number] = place
            shadow = self.shadow(place.root, place.shadow)
            changes += (
                _to_file_change(place.root, each) for each in shadow.changes(place.before, place.after)
            )
        if any(place.has_changed for place in note.places):
            self.checkpoint_index.write(note)
        else:
            self.forget(note)
        return changes

    def _whole_after(self, note_id: str, place: FolderSnapshot, touched: Sequence[bytes]) -> FolderSnapshot:
        shadow = self.shadow(place.root)
        modes = shadow.modes()  # the modes in the state before; the next snapshot overwrites them
        modes |= dict(place.modes_before)  # those of files changed before the whole folder was stored
        snapshot = shadow.take(touched)
        shadow.gc_refs.add_ref(note_id, "after", snapshot.tree)
        differing = (each.path for each in shadow.differences(place.before, snapshot.tree)) if modes else ()
        return structs.replace(
            place,
            after=snapshot.tree,
            empty_after=snapshot.empty_folders,
            left_after=snapshot.left_out,
            folders_after=tuple(shadow.folder_modes(snapshot.tree).items()),
            modes_before=tuple((path, modes[path]) for path in differing if path in modes),
        )

    def forget(self, note: CheckpointRecord) -> None:
        """Delete a checkpoint, even if its folders have moved. Its objects are left to garbage collection."""
        self.checkpoint_index.delete(note)
        for place in note.places:
            GcRefs(self.setup.shadows_folder / place.shadow).remove_refs(note.id)

    def find(self, session_id: str, checkpoint_id: str) -> tuple[CheckpointRecord, list[CheckpointRecord]]:
        """Return a checkpoint's record and all records of its session. Raises BadRequest for an unknown checkpoint."""
        notes = self.checkpoint_index.of_session(session_id)
        for note in notes:
            if note.id == checkpoint_id:
                return note, notes
        raise BadRequest(
            f"Session {session_id!r} has no checkpoint {checkpoint_id[:80]!r}.",
            hint="List the session's checkpoints to see which exist.",
        )

    def listed(self, session_id: str, created_before: float = float("inf")) -> list[Checkpoint]:
        """Return a session's checkpoints with their changes, oldest first."""
        notes = self.checkpoint_index.of_session(session_id)
        return [self.with_changes(note, notes) for note in notes if note.created_at < created_before]

    def with_changes(self, note: CheckpointRecord, notes: Sequence[CheckpointRecord]) -> Checkpoint:
        """Return a checkpoint with its changes. Those of an unfinished checkpoint extend up to the next one."""
        files: list[FileChange] = []
        left_out: list[str] = []
        for place in note.places:
            shadow = self.shadow(place.root, place.shadow)
            after = place.after or self.state_after(note, place, notes)
            if after:
                files += (_to_file_change(place.root, each) for each in shadow.changes(place.before, after))
            left = {*place.left_before, *place.left_after}
            left_out += (display_path(place.root, path) for path in sorted(left))
        return Checkpoint(
            note.id,
            note.session_id,
            note.turn_id,
            note.created_at,
            note.title,
            "turn" if note.kind == "turn" else "undo",
            tuple(sorted(files, key=lambda each: each.path)),
            tuple(left_out),
            note.undoes,
            note.undone_by,
            note.is_torn,
        )

    def state_after(
        self,
        note: CheckpointRecord,
        place: FolderSnapshot,
        notes: Sequence[CheckpointRecord],
        *,
        or_now: bool = False,
    ) -> str:
        """Return the tree after an unfinished checkpoint, taken from the session's later ones, or an empty string.

        With `or_now`, files that those checkpoints do not cover are read from the disk.
        """
        later = notes[[each.id for each in notes].index(note.id) + 1 :]
        is_same = (place.root, place.shadow)
        follows = [other for each in later for other in each.places if (other.root, other.shadow) == is_same]
        return tree_after(self.shadow(*is_same), place, follows, or_now=or_now)

    def texts(self, note: CheckpointRecord, notes: Sequence[CheckpointRecord]) -> list[FileTexts]:
        """Return the contents of every changed file before and after."""
        found: list[FileTexts] = []
        for place in note.places:
            shadow = self.shadow(place.root, place.shadow)
            after = place.after or self.state_after(note, place, notes)
            differences = shadow.differences(place.before, after) if after else []
            contents = self._contents(
                shadow, [state for each in differences for state in (each.before, each.after)]
            )
            for each, old, new in zip(differences, contents, contents, strict=True):
                found.append(_as_texts(display_path(place.root, each.path), each, old, new))
        return sorted(found, key=lambda each: each.path)

    def patches(self, note: CheckpointRecord, notes: Sequence[CheckpointRecord]) -> list[tuple[str, bytes]]:
        """Return a patch for each folder of a checkpoint; its paths start at the top of the work tree, if there is one.

        Each patch comes with the folder in which to run `git apply`.
        """
        found: list[tuple[str, bytes]] = []
        for place in note.places:
            after = place.after or self.state_after(note, place, notes)
            shadow = self.shadow(place.root, place.shadow)
            if not after or not (differences := shadow.differences(place.before, after)):
                continue
            binary = self._binary_paths(shadow, differences)
            for each in shadow.changes(place.before, after):
                if each.old_path and {each.path, each.old_path} & binary:
                    binary |= {each.path, each.old_path}
            texts = {each.path for each in differences} - binary
            top = find_work_tree(place.root) or place.root
            below = "" if top == place.root else os.path.relpath(place.root, top)
            trees = (place.before, after)
            patch = make_patch(shadow.git, trees, texts, below, are_text=True)
            patch += make_patch(shadow.git, trees, binary, below, are_text=False)
            found.append((top, patch))
        return found

    def _binary_paths(self, shadow: Shadow, differences: Sequence[TreeDifference]) -> set[bytes]:
        """Return the paths whose content git considers binary, because it has a NUL byte near its start."""
        states = [state for each in differences for state in (each.before, each.after)]
        contents = self._contents(shadow, states)
        binary: set[bytes] = set()
        for each in differences:
            for state in (each.before, each.after):
                content = next(contents)
                if state and (content is None or b"\0" in content[:EXAMINED_BYTES]):
                    binary.add(each.path)
        return binary

    def _contents(self, shadow: Shadow, states: Sequence[FileState | None]) -> Iterator[bytes | None]:
        """Yield the contents one by one, or None for a missing or lost file."""
        oids = [state.oid for state in states if state]
        with closing(shadow.git.blobs(oids, self.setup.bounds.largest_file_bytes)) as blobs:
            for state in states:
                yield next(blobs, None) if state else None


def _as_texts(path: str, each: TreeDifference, old: bytes | None, new: bytes | None) -> FileTexts:
    is_lost = (old is None) != (each.before is None) or (new is None) != (each.after is None)
    if is_lost or len(old or b"") + len(new or b"") > MAX_TEXT_BYTES or b"\0" in (old or b"") + (new or b""):
        return FileTexts(path, is_binary=True)
    try:
        return FileTexts(
            path,
            None if old is None else old.decode("utf-8"),
            None if new is None else new.decode("utf-8"),
        )
    except UnicodeDecodeError:
        return FileTexts(path, is_binary=True)


def outermost_folders(roots: Sequence[str]) -> list[str]:
    """Return the distinct folders that are not inside another one of them."""
    real = list(dict.fromkeys(os.path.realpath(root) for root in roots))
    return [
        root
        for root in real
        if not any(root != other and root.startswith(other.rstrip("/") + "/") for other in real)
    ]


def _are_files(paths: Sequence[str]) -> bool:
    """Return whether no path is a folder. A change to a folder may change anything in it."""
    return not any(os.path.isdir(path) and not os.path.islink(path) for path in paths)


def paths_within(root: str, paths: Sequence[str]) -> list[bytes]:
    """Return those of the absolute paths that are in a folder, made relative to it."""
    prefix = root.rstrip("/") + "/"
    return [os.fsencode(path[len(prefix) :]) for path in paths if path.startswith(prefix)]


def display_path(root: str, path: bytes) -> str:
    """Return a path for display: absolute, and valid text regardless of its bytes."""
    return os.path.join(root, path.decode("utf-8", "replace"))


def _to_file_change(root: str, each: TreeDifference) -> FileChange:
    old_path = display_path(root, each.old_path) if each.old_path else ""
    return FileChange(display_path(root, each.path), each.change, old_path)


def to_conflicts(root: str, why: Mapping[bytes, str]) -> list[UndoConflict]:
    """Convert paths and reasons to conflicts."""
    return [UndoConflict(display_path(root, path), reason) for path, reason in sorted(why.items())]


def selected_paths(
    root: str, paths: Collection[str] | None, differences: Iterable[TreeDifference]
) -> set[bytes] | None:
    """Return the selected paths as bytes, or None for all paths."""
    if paths is None:
        return None
    return {each.path for each in differences if display_path(root, each.path) in paths}
