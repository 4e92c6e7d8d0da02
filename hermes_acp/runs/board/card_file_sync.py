"""Apply people's edits to card files, and rewrite the files when cards change."""

import fcntl
import getpass
import os
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.ports.boards.cards import Actor
from hermes_acp.runs.board.board_service import BoardService
from hermes_acp.runs.board.card_files import CardFiles, FileEdit
from hermes_acp.storage.private_files import private_folder

if TYPE_CHECKING:
    from hermes_acp.storage.watching.folder_watcher import FolderWatcher

LOCK: Final = ".lock"
MAX_WAITS: Final = 20
"""How often a sync waits for files that are being written before it reads them as they are."""


class CardFileSync:
    """Synchronises the files of all boards in a home folder, in both directions."""

    def __init__(self, boards: BoardService, folder: Path, watcher: "FolderWatcher | None" = None) -> None:
        """Store the arguments; nothing is read yet. `folder` contains the boards.

        With a watcher, edits can be awaited.
        """
        self._boards = boards
        self._folder = folder
        self._watcher = watcher
        self._files: dict[str, CardFiles] = {}

    async def sync(self, name: str) -> list[str]:
        """Apply edits, then write changes; return the reasons why edits were not saved. Raises StorageError.

        Does nothing while another process is synchronising.
        """
        files = self._files_of(name)
        problems: list[str] = []
        with self._locked(files) as is_ours:
            if is_ours:
                await _settled(files)
                for edit in await run_sync(lambda: list(files.edits())):
                    problem = edit.problem or await self._carry_out(name, edit)
                    if problem:
                        problems.append(f"{edit.path}: {problem}")
                        await run_sync(files.reject, edit, problem)
                    else:
                        await run_sync(files.accept, edit)
                await run_sync(files.write, await self._boards.board(name))
        return problems

    async def edited(self, names: Iterable[str]) -> None:
        """Wait until a file of one of these boards may have been edited."""
        assert self._watcher, "waiting requires a watcher"
        watcher, known = self._watcher, [self._files_of(name) for name in names]
        has_news = anyio.Event()

        async def look() -> None:
            if await run_sync(lambda: any(files.is_touched() for files in known)):
                has_news.set()

        async def watch() -> None:
            await watcher.changed([files.folder for files in known], (), look)
            has_news.set()

        async with background_tasks(watch):
            await has_news.wait()

    def _files_of(self, name: str) -> CardFiles:
        return self._files.setdefault(name, CardFiles(self._folder / name, local_time))

    async def _carry_out(self, name: str, edit: FileEdit) -> str:
        """Carry out an edit; return why it is refused, or an empty string. Raises StorageError."""
        by = Actor("person", getpass.getuser())
        try:
            for action in edit.actions:
                await self._boards.act(name, action, by)
        except StorageError:
            raise
        except HermesError as error:
            return error.sentence()
        return ""

    @contextmanager
    def _locked(self, files: CardFiles) -> Generator[bool]:
        """Hold the lock of a board's files, unless another process holds it."""
        path = private_folder(files.folder) / LOCK
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(descriptor)


async def _settled(files: CardFiles) -> None:
    """Wait until no file is being written."""
    for _ in range(MAX_WAITS):
        if not (wait_s := await run_sync(files.settles_in_s, time.time())):
            return
        await anyio.sleep(wait_s)


def local_time(seconds: float) -> str:
    """Format a time in this machine's time zone."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
