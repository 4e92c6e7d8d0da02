"""Store the states of folders elsewhere, and update one machine's copies of the folders to stored states.

A file in the repository's git directory says which stored state the copy has. Everything here blocks.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.git.object_exchange import ObjectExchange
from hermes_acp.git.repository_git import RepositoryGit, WorkingCopy, find_program, find_working_copy
from hermes_acp.git.workspace_snapshots import (
    Snapshot,
    add_origin,
    bring_to,
    loses_nothing,
    new_repository,
    other_commits,
    take_snapshot,
    tree_in,
    tree_of,
)
from hermes_acp.policy.sensitive_names import is_sensitive
from hermes_acp.runs.fleet.workspaces.workspace_table import StoredFolder, state_name
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits, filter_paths
from hermes_acp.storage.private_files import write_private_text

MARK: Final = "hermes-acp-workspace.json"
MAX_FILE_BYTES: Final = 100 * 1024 * 1024
KEPT: Final = "refs/hermes-acp/kept/{commit}"
NOT_THE_SAME: Final = (
    "The folder {top} on this machine has changes that the run's stored state does not have."
)
NOT_THE_SAME_HINT: Final = "Commit or stash them, or move the folder away; then: hermes-acp runs retry."
IN_THE_WAY: Final = "{top} is needed for a run's folder, but something else is there on this machine."
IN_THE_WAY_HINT: Final = "Move it away; then: hermes-acp runs retry."


class _Mark(Struct, frozen=True):
    """The stored state that a copy has or has had, and whether this program created the copy."""

    commit: str
    is_ours: bool = False


class FolderCopies:
    """The copies of one machine."""

    def __init__(
        self, variables: Mapping[str, str], exchange_folder: Path, address: str, machine: str
    ) -> None:
        """Store the arguments.

        Raises ConfigError for an unusable address, and WorkspaceError if git is not installed.
        """
        self._program = find_program(variables)
        self._exchange = ObjectExchange(self._program, exchange_folder, address)
        self._machine = machine

    def top_of(self, folder: str) -> str:
        """Return the top of the repository of its own that contains a folder, or an empty string."""
        copy = self._copy(folder)
        return copy.top if copy and copy.git_dir == copy.common_dir else ""

    def store(self, top: str) -> Snapshot | None:
        """Store the current state where other machines can reach it; return None if it is already stored.

        Raises WorkspaceError.
        """
        try:
            return self._store(top)
        except OSError as error:
            raise WorkspaceError(f"The state of {top} could not be stored: {error}.") from error

    def _store(self, top: str) -> Snapshot | None:
        copy = self._copy(top)
        if copy is None:
            return None
        git = RepositoryGit(self._program, copy.top)
        state, mark = take_snapshot(git, copy, kept_here), _read_mark(copy)
        if mark and self._is_same(git, mark.commit, state):
            return None
        self._exchange.send(copy.common_dir, state.commit, state_name(top, self._machine))
        _write_mark(copy.git_dir, _Mark(state.commit, mark.is_ours if mark else False))
        return state

    def has(self, stored: StoredFolder) -> bool:
        """Return whether this machine's copy has, or started from, the stored state."""
        copy = self._copy(stored.top)
        mark = _read_mark(copy) if copy else None
        return mark is not None and mark.commit == stored.state.commit

    def bring(self, stored: StoredFolder) -> None:
        """Bring this machine's copy to a stored state, or create the copy.

        Nothing is lost: a copy with local changes is refused or, if this program created it, kept under a reference.
        Raises WorkspaceError.
        """
        try:
            copy = self._copy(stored.top)
            if copy is None or copy.top != stored.top:
                self._create(stored)
            else:
                self._update(copy, stored)
        except OSError as error:
            raise WorkspaceError(f"The folder {stored.top} could not be written: {error}.") from error

    def _update(self, copy: WorkingCopy, stored: StoredFolder) -> None:
        git, mark = RepositoryGit(self._program, copy.top), _read_mark(copy)
        self._exchange.fetch(copy.common_dir, stored.name)
        present = tree_of(git, copy, kept_here)
        known = tree_in(git, mark.commit) if mark else ""
        if not loses_nothing(git, present, known, stored.state):
            if not (mark and mark.is_ours):
                raise WorkspaceError(NOT_THE_SAME.format(top=stored.top), hint=NOT_THE_SAME_HINT)
            for kept in (take_snapshot(git, copy, nothing).commit, *other_commits(git, stored.state)):
                git.run("update-ref", KEPT.format(commit=kept), kept)
        bring_to(git, copy, present, stored.state)
        _write_mark(copy.git_dir, _Mark(stored.state.commit, mark.is_ours if mark else False))

    def _create(self, stored: StoredFolder) -> None:
        """Create the copy next to its final location, and rename it once it is complete."""
        top = stored.top
        if not is_missing(top):
            raise WorkspaceError(IN_THE_WAY.format(top=top), hint=IN_THE_WAY_HINT)
        draft = f"{top}.hermes-acp-{os.urandom(4).hex()}"
        try:
            os.makedirs(draft, mode=0o700)
            git = RepositoryGit(self._program, draft)
            new_repository(git)
            self._exchange.fetch(os.path.join(draft, ".git"), stored.name)
            copy = self._copy(draft)
            assert copy, "it was just made"
            bring_to(git, copy, tree_of(git, copy, nothing), stored.state)
            add_origin(git, stored.state.origin)
            _write_mark(copy.git_dir, _Mark(stored.state.commit, is_ours=True))
            os.rename(draft, top)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _copy(self, folder: str) -> WorkingCopy | None:
        if not os.path.isdir(folder):
            return None
        return find_working_copy(self._program, folder)

    @staticmethod
    def _is_same(git: RepositoryGit, earlier: str, state: Snapshot) -> bool:
        if tree_in(git, earlier) != tree_in(git, state.commit):
            return False
        return (git.try_run("rev-parse", "--verify", "--quiet", f"{earlier}^") or "").strip() == state.head


def is_missing(top: str) -> bool:
    """Return whether nothing exists at the path of a folder. Blocks."""
    return not os.path.lexists(top) or (os.path.isdir(top) and not os.listdir(top))


def kept_here(top: str, paths: Sequence[str]) -> Sequence[str]:
    """Return the files that contain keys, are too large, or cannot be read."""
    limits = SnapshotLimits(MAX_FILE_BYTES, holds_keys=is_sensitive)
    found = filter_paths(top, (), [os.fsencode(path) for path in paths], limits)
    return [os.fsdecode(path) for path in found.left_out]


def nothing(top: str, paths: Sequence[str]) -> Sequence[str]:
    """Return no files, because a state that stays on this machine contains all of them."""
    return ()


def _read_mark(copy: WorkingCopy) -> _Mark | None:
    try:
        return msgspec.json.decode(Path(copy.git_dir, MARK).read_bytes(), type=_Mark)
    except (OSError, msgspec.MsgspecError):
        return None


def _write_mark(git_dir: str, mark: _Mark) -> None:
    write_private_text(Path(git_dir, MARK), msgspec.json.encode(mark).decode())
