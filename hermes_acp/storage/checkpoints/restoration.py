"""Undo and redo checkpoints, either entirely or, if there is a conflict, not at all.

The state before an undo is stored first. All methods block.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

from msgspec import Struct, structs

from hermes_acp.core.ports.checkpoint_ports import CheckpointContext, RestoreResult, UndoConflict
from hermes_acp.storage.checkpoints.checkpoint_index import CheckpointRecord, FolderSnapshot
from hermes_acp.storage.checkpoints.checkpoint_store import (
    CheckpointStore,
    display_path,
    outermost_folders,
    selected_paths,
    to_conflicts,
)
from hermes_acp.storage.checkpoints.git_trees import FileState, UnknownState, blob_name, parents_of
from hermes_acp.storage.checkpoints.shadow_repository import Shadow
from hermes_acp.storage.checkpoints.undo_plan import (
    CHANGED_SINCE,
    LOST,
    FolderChange,
    UndoPlan,
    plan,
    plan_empty_folders,
    plan_folder_modes,
)
from hermes_acp.storage.checkpoints.workspace_filesystem import WorkspaceFilesystem


class RestoreRequest(Struct, frozen=True):
    """A request to restore: the new checkpoint's ID and context, the files, and whether others' changes may be lost."""

    id: str
    created_at: float
    occasion: CheckpointContext
    only: tuple[str, ...] | None = None
    force: bool = False


class _FolderPlan(Struct):
    """The plan for a folder."""

    root: str
    shadow: Shadow
    planned: UndoPlan
    keeps: frozenset[bytes]
    """The folders to keep even if they are temporarily empty."""
    makes: tuple[bytes, ...]
    drops: tuple[bytes, ...]
    reads: dict[bytes, Shadow]
    modes: dict[bytes, int]
    folders: dict[bytes, int]
    """The permission bits to restore on folders; folders whose bits changed since the last turn are excluded."""

    @property
    def folder_paths(self) -> list[str]:
        """The absolute paths of folders that are created, deleted or given other permission bits."""
        paths = dict.fromkeys((*self.makes, *self.drops, *self.folders))
        return [os.path.join(self.root, os.fsdecode(path)) for path in paths]


class CheckpointRestorer:
    """Undoes checkpoints of a session. Methods raise CheckpointError."""

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store

    def undo(self, session_id: str, count: int, request: RestoreRequest) -> RestoreResult:
        """Undo the last `count` turns that are not undone yet."""
        notes = self._store.checkpoint_index.of_session(session_id)
        holding = [note for note in notes if note.kind == "turn" and not note.undone_by]
        chosen = holding[-count:][::-1]
        return self._take_back(chosen, notes, request, "undo")

    def redo(self, session_id: str, request: RestoreRequest) -> RestoreResult:
        """Undo the last undo that is not redone yet."""
        notes = self._store.checkpoint_index.of_session(session_id)
        undos = [note for note in notes if note.kind == "undo" and not note.undone_by]
        chosen = undos[-1:]
        return self._take_back(chosen, notes, request, "redo")

    def restore(self, session_id: str, checkpoint_id: str, request: RestoreRequest) -> RestoreResult:
        """Undo one checkpoint, which belongs to a turn or an undo. Raises BadRequest for an unknown one."""
        note, notes = self._store.find(session_id, checkpoint_id)
        kind = "undo" if note.kind == "turn" else "redo"
        return self._take_back([note], notes, request, kind)

    def _take_back(
        self,
        chosen: Sequence[CheckpointRecord],
        notes: Sequence[CheckpointRecord],
        request: RestoreRequest,
        kind: Literal["undo", "redo"],
    ) -> RestoreResult:
        done = self._put_back(chosen, notes, request, kind)
        taken_back = tuple(self._store.with_changes(note, notes) for note in chosen)
        return structs.replace(done, taken_back=taken_back)

    def _put_back(
        self,
        chosen: Sequence[CheckpointRecord],
        notes: Sequence[CheckpointRecord],
        request: RestoreRequest,
        kind: Literal["undo", "redo"],
    ) -> RestoreResult:
        if not chosen:
            return RestoreResult()
        fields = [
            self._field(root, chosen, notes, request)
            for root in outermost_folders([place.root for note in chosen for place in note.places])
        ]
        conflicts = [each for field in fields for each in to_conflicts(field.root, field.planned.conflicts)]
        if conflicts and not request.force:
            return RestoreResult(conflicts=tuple(conflicts))
        wanted = [display_path(field.root, path) for field in fields for path in field.planned.wanted]
        touched = [
            os.path.join(field.root, os.fsdecode(path)) for field in fields for path in field.planned.wanted
        ]
        roots = tuple(field.root for field in fields)
        occasion = structs.replace(request.occasion, roots=roots)
        folders = [path for field in fields for path in field.folder_paths]
        own = self._store.begin(
            request.id, kind, occasion, request.created_at, touched, is_whole=False, folders=folders
        )
        failed = [conflict for field in fields for conflict in self._carry_out(field)]
        is_whole = request.only is None and (request.force or not failed)
        own.undoes = tuple(note.id for note in chosen) if is_whole else ()
        has_changed = bool(self._store.finish(own, touched, folders))
        if is_whole:
            self._mark(chosen, notes, own.id)
        missed = {conflict.path for conflict in failed}
        return RestoreResult(
            tuple(sorted(path for path in wanted if path not in missed)),
            (*conflicts, *failed),
            own.id if has_changed else "",
        )

    def _mark(self, chosen: Sequence[CheckpointRecord], notes: Sequence[CheckpointRecord], by: str) -> None:
        """Record the result: mark undone checkpoints as undone, and those that they had undone as in effect again."""
        known = {note.id: note for note in notes}
        marks: dict[str, str] = {}

        def take_back(note: CheckpointRecord, by: str) -> None:
            marks[note.id] = by
            for each in note.undoes:
                if each in known:
                    revive(known[each])

        def revive(note: CheckpointRecord) -> None:
            marks[note.id] = ""
            for each in note.undoes:
                if each in known:
                    take_back(known[each], note.id)

        for note in chosen:
            take_back(note, by)
        for note_id, mark in marks.items():
            self._store.checkpoint_index.write(structs.replace(known[note_id], undone_by=mark))

    def _field(
        self,
        root: str,
        chosen: Sequence[CheckpointRecord],
        notes: Sequence[CheckpointRecord],
        request: RestoreRequest,
    ) -> _FolderPlan:
        parts: list[FolderChange] = []
        reads: dict[bytes, Shadow] = {}
        modes = self._store.shadow(root).modes()
        only: set[bytes] | None = None if request.only is None else set()
        places: list[FolderSnapshot] = []
        for note in chosen:
            for place in (each for each in note.places if each.root == root):
                shadow = self._store.shadow(root, place.shadow)
                after = place.after or self._store.state_after(note, place, notes, or_now=True)
                differences = shadow.differences(place.before, after)
                if only is not None:
                    only |= selected_paths(root, request.only, differences) or set()
                parts.append(
                    FolderChange(
                        tuple(differences),
                        frozenset(place.left_before),
                        frozenset(place.left_after),
                        frozenset(place.empty_after) - frozenset(place.empty_before),
                        is_torn=not place.after,
                    )
                )
                reads |= {each.path: shadow for each in differences}
                modes |= dict(place.modes_before)
                places.append(place)
        workspace_filesystem = WorkspaceFilesystem(root)
        try:
            planned = plan(parts, workspace_filesystem.state, only, force=request.force)
            folders = (
                plan_folder_modes(places, workspace_filesystem.folder_mode, force=request.force)
                if only is None
                else {}
            )
        finally:
            workspace_filesystem.close()
        filled = {folder for path, state in planned.wanted.items() if state for folder in parents_of(path)}
        keeps, drops = plan_empty_folders(places)
        spared = only is not None
        shadow = self._store.shadow(root)
        return _FolderPlan(
            root,
            shadow,
            planned,
            keeps | filled,
            () if spared else tuple(sorted(keeps)),
            () if spared else tuple(sorted(drops - filled, reverse=True)),
            reads,
            modes,
            folders,
        )

    def _carry_out(self, field: _FolderPlan) -> list[UndoConflict]:
        workspace_filesystem, failed = WorkspaceFilesystem(field.root), dict[bytes, str]()
        try:
            for path, mode in field.folders.items():
                workspace_filesystem.set_folder_mode(path, mode | stat.S_IRWXU)
            gone = sorted(
                (path for path, state in field.planned.wanted.items() if state is None), reverse=True
            )
            for path in gone:
                _try(failed, path, partial(self._remove, workspace_filesystem, field, path))
            for path in field.drops:
                if workspace_filesystem.drop_folder(path):
                    workspace_filesystem.clear(path, field.keeps)
            for path, state, content in self._contents(field):
                _try(failed, path, partial(self._put, workspace_filesystem, field, path, state, content))
            for path in field.makes:
                workspace_filesystem.make_folder(path)
            for path, mode in sorted(field.folders.items(), reverse=True):
                workspace_filesystem.set_folder_mode(path, mode)
        finally:
            workspace_filesystem.close()
        return to_conflicts(field.root, failed)

    def _remove(self, workspace_filesystem: WorkspaceFilesystem, field: _FolderPlan, path: bytes) -> str:
        now = workspace_filesystem.state(path)
        if not _is_as_planned(now, field.planned.present[path]):
            return CHANGED_SINCE
        if isinstance(
            now, FileState
        ):  # otherwise it is a folder that the turn created, and is removed once empty
            workspace_filesystem.remove(path)
        workspace_filesystem.clear(path, field.keeps)
        return ""

    def _put(
        self,
        workspace_filesystem: WorkspaceFilesystem,
        field: _FolderPlan,
        path: bytes,
        state: FileState,
        content: bytes | None,
    ) -> str:
        if not _is_as_planned(workspace_filesystem.state(path), field.planned.present[path]):
            return CHANGED_SINCE
        if content is None or blob_name(content) != state.oid:
            return LOST
        workspace_filesystem.put(path, state, content, field.modes.get(path))
        return ""

    def _contents(self, field: _FolderPlan) -> Iterator[tuple[bytes, FileState, bytes | None]]:
        """Read the contents to restore, one file at a time."""
        for shadow in {id(each): each for each in field.reads.values()}.values():
            states = {
                path: state
                for path, state in sorted(field.planned.wanted.items())
                if state and field.reads[path] is shadow
            }
            contents = shadow.git.blobs([state.oid for state in states.values()])
            for (path, state), content in zip(states.items(), contents, strict=True):
                yield path, state, content


def _is_as_planned(now: FileState | UnknownState | None, then: FileState | UnknownState | None) -> bool:
    """Return whether nothing changed since the plan was made. The plan itself may have emptied a folder."""
    return now == then or (now is None and isinstance(then, UnknownState))


def _try(failed: dict[bytes, str], path: bytes, act: Callable[[], str]) -> None:
    try:
        why = act()
    except OSError as error:
        why = error.strerror or "the system denied access"
    if why:
        failed[path] = why
