"""The records of cards' worktrees: a small file for each, written before anything is created."""

import fcntl
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, Literal

import anyio
import msgspec
from msgspec import Struct

from hermes_acp.core.errors import StorageError
from hermes_acp.storage.private_files import private_folder, storage_error, write_private_text

LOCK_INTERVAL_S: Final = 0.05
MERGE_LOCK: Final = "hermes-acp-merge"
Stage = Literal["creating", "ready", "rebasing", "checking", "returning", "merged", "kept"]
"""`rebasing`, `checking` and `returning` are steps of a merge.

In `kept`, there is a branch but no worktree any more.
"""


class WorktreeRecord(Struct, frozen=True, omit_defaults=True):
    """The worktree of a card: its location, its branch, and the commit and branch from which it started.

    `folder` is the session's folder in it. `tip` is the commit with all of the agent's work during a merge, and
    `conflicts` are the files that the agent was asked to fix. `taken_from` is the branch of another machine's worktree
    that this one replaces.
    """

    board: str
    card_id: str
    source: str
    path: str
    folder: str
    branch: str
    base: str
    target: str
    stage: Stage = "creating"
    tip: str = ""
    conflicts: tuple[str, ...] = ()
    taken_from: str = ""

    def is_of(self, branch: str) -> bool:
        """Return whether this is the worktree of a branch, or the one that has just replaced it."""
        return branch in (self.branch, self.taken_from)


class WorktreeRecords:
    """The record files of one home folder, and their locks."""

    def __init__(self, home: Path) -> None:
        """Store the path; nothing is created yet."""
        self._folder = home / "worktrees"

    def read(self, board: str, card_id: str) -> WorktreeRecord | None:
        """Return a card's record, or None. Raises StorageError."""
        path = self._path(board, card_id)
        try:
            return msgspec.json.decode(path.read_bytes(), type=WorktreeRecord)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise StorageError(f"The record of a worktree, {path}, cannot be read: {error}.") from error

    def write(self, record: WorktreeRecord) -> None:
        """Store a record. Raises StorageError."""
        written = msgspec.json.format(msgspec.json.encode(record), indent=1).decode()
        write_private_text(self._path(record.board, record.card_id), written + "\n")

    def forget(self, record: WorktreeRecord) -> None:
        """Remove a record."""
        with suppress(OSError):
            self._path(record.board, record.card_id).unlink(missing_ok=True)

    def all(self) -> list[WorktreeRecord]:
        """Return all records that can be read."""
        found: list[WorktreeRecord] = []
        for path in sorted(self._folder.glob("*.json")):
            with suppress(OSError, msgspec.DecodeError):
                found.append(msgspec.json.decode(path.read_bytes(), type=WorktreeRecord))
        return found

    @asynccontextmanager
    async def lock_card(self, board: str, card_id: str) -> AsyncGenerator[int]:
        """Wait until no other process works on a card's worktree; yield the lock's descriptor.

        The lock's file is removed with the card's record, unless a git process that outlives its parent still holds it.
        """
        record = self._path(board, card_id)
        path = private_folder(self._folder) / record.with_suffix(".lock").name
        try:
            async with _lock(path) as descriptor:
                yield descriptor
        finally:
            if not record.exists():
                _remove_free(path)

    @asynccontextmanager
    async def lock_repository(self, common_dir: str) -> AsyncGenerator[int]:
        """Wait until no other process merges into a repository, and yield the lock's descriptor.

        The lock is in the repository, because other machines that share the repository merge too.
        """
        async with _lock(Path(common_dir) / MERGE_LOCK) as descriptor:
            yield descriptor

    def _path(self, board: str, card_id: str) -> Path:
        return self._folder / f"{board}.{card_id}.json"


@asynccontextmanager
async def _lock(path: Path) -> AsyncGenerator[int]:
    """Hold a lock in an existing folder. Processes that inherit its descriptor hold it too. Raises StorageError."""
    descriptor = await _locked(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


async def _locked(path: Path) -> int:
    """Return the locked descriptor of a file that still has this path: it may be removed in the meantime."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise storage_error("open the lock", path, error) from error
        try:
            while not _try_lock(descriptor):
                await anyio.sleep(LOCK_INTERVAL_S)
            if _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _remove_free(path: Path) -> None:
    """Remove a lock's file unless anyone holds it. Waiting processes notice and open a new one."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if _try_lock(descriptor) and _is_at(descriptor, path):
            with suppress(OSError):
                path.unlink()
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
