"""The single watcher for all folders that a process follows.

When idle, it costs one descriptor and no thread, because inotify wakes the event loop. Folders that the system cannot
watch, or that exceed its limits, are polled instead.
"""

import errno
import os
import platform
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.storage.watching.folder_events import CONTENTS, FolderEvents
from hermes_acp.storage.watching.inotify import NAMES

DEBOUNCE_S: Final = 0.1
POLL_INTERVAL_S: Final = 2.0
POLL_INTERVAL_PER_PLACE_S: Final = 0.1
MAX_FOLDERS: Final = 4096
"""The maximum number of folders below one root. A skills folder that links to a whole disk is polled instead."""
SKIPPED: Final = frozenset(
    {
        *("__pycache__", ".git", ".hg", ".svn", ".tox", ".venv", ".idea", "node_modules"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
    }
)
DRAFTS: Final = re.compile(r"\.py[cod]$|\.___jb_...___$|\.sw.$|~$|^\.#|^\.DS_Store$|^flycheck_|^4913$")
"""Temporary files that tools and editors create next to the files they work on."""
LIMITS: Final[Mapping[int, str]] = MappingProxyType(
    {
        errno.ENOSPC: "more folders than the system lets one user watch (fs.inotify.max_user_watches)",
        errno.EMFILE: "more watchers than the system lets one user have (fs.inotify.max_user_instances)",
    }
)
PathFilter = Callable[[Path], bool]
BackgroundWork = Callable[[], Coroutine[Any, Any, None]]


class _Interest:
    """A task waiting for a change; `is_relevant` filters changes directly in its shallow folders."""

    def __init__(self, is_relevant: PathFilter) -> None:
        self.changed = anyio.Event()
        self.deep: frozenset[str] = frozenset()
        self.shallow: frozenset[str] = frozenset()
        self.is_relevant = is_relevant

    def take(self, path: str, *, is_relevant: bool) -> None:
        """Wake the waiting task if it is waiting for a change of `path`."""
        folder, name = os.path.split(path)
        if folder in self.deep or path in self.deep:
            is_wanted = name not in SKIPPED and not DRAFTS.search(name)
        else:
            is_wanted = is_relevant or path in self.shallow
        if is_wanted:
            self.changed.set()


class FolderWatcher:
    """Follows the folders that the tasks of a process wait for; `start` runs its reader in the background."""

    def __init__(
        self,
        start: Callable[[BackgroundWork], object],
        open_events: Callable[[], FolderEvents] = FolderEvents,
        poll_interval_s: float = POLL_INTERVAL_S,
    ) -> None:
        """Initialise without watching anything. `poll_interval_s` is the polling interval for unwatchable folders."""
        self._open_events = open_events
        self._poll_interval_s = poll_interval_s
        self._limit = ""
        self._start = start
        self._is_started = False
        self._is_ready = anyio.Event()
        self._events: FolderEvents | None = None
        self._interests: dict[str, tuple[_Interest, ...]] = {}
        self._threads: anyio.CapacityLimiter | None = None
        self._polling = 0

    async def changed(
        self,
        deep: Sequence[Path],
        shallow: Sequence[Path],
        begun: Callable[[], Coroutine[Any, Any, None]],
        is_relevant: PathFilter = lambda _: True,
    ) -> None:
        """Return once anything changes below the `deep` folders, or any relevant path directly in the `shallow` ones.

        `begun` is called once watching has started. The caller must detect earlier changes itself.
        """
        if not self._is_started:
            self._is_started = True
            self._threads = anyio.CapacityLimiter(1)
            self._start(self.run)
        await self._is_ready.wait()
        interest = _Interest(is_relevant)
        try:
            is_watched = await run_sync(self._follow, interest, deep, shallow, limiter=self._threads)
            await begun()
            if is_watched:
                await interest.changed.wait()
            else:
                await self._poll()
        finally:
            with anyio.CancelScope(shield=True):
                await run_sync(self._drop, interest, limiter=self._threads)

    def news(self) -> str:
        """Return text for the user about the system limit that prevents watching folders, or an empty string."""
        told = "Changes to skills are noticed a few seconds late, because watching their folders would take {limit}."
        return told.format(limit=self._limit) if self._limit else ""

    async def run(self) -> None:
        """Read changes and wake the tasks that wait for them, until cancelled."""
        try:
            self._events = None if _misses_changes() else self._open_events()
        except OSError as error:
            self._limit = LIMITS.get(error.errno or 0, "")
        self._is_ready.set()
        if self._events is None:
            return
        try:
            while True:
                await anyio.wait_readable(self._events.descriptor)
                await anyio.sleep(DEBOUNCE_S)  # related changes arrive together
                for path in self._events.read():
                    self._tell(path)
        finally:
            self._events.close()

    def _tell(self, path: str) -> None:
        if path:
            interests = {*self._interests.get(path, ()), *self._interests.get(os.path.dirname(path), ())}
            concerned = {each: each(Path(path)) for each in {interest.is_relevant for interest in interests}}
            for interest in interests:
                interest.take(path, is_relevant=concerned[interest.is_relevant])
        else:
            for interest in {each for them in tuple(self._interests.values()) for each in them}:
                interest.changed.set()

    async def _poll(self) -> None:
        """Wait for the next poll, longer if more tasks need one."""
        self._polling += 1
        try:
            await anyio.sleep(self._poll_interval_s + POLL_INTERVAL_PER_PLACE_S * self._polling)
        finally:
            self._polling -= 1

    def _follow(self, interest: _Interest, deep: Sequence[Path], shallow: Sequence[Path]) -> bool:
        """Watch the folders, and return whether all of them could be watched. Blocks."""
        if self._events is None:
            return False
        try:
            interest.deep = frozenset(_folders_below(deep))
            interest.shallow = frozenset(map(str, shallow)) - interest.deep
            for folder in (*interest.deep, *interest.shallow):
                self._interests[folder] = (*self._interests.get(folder, ()), interest)
                self._watch(self._events, folder)
        except (OSError, ValueError) as error:  # a name that no system call accepts raises ValueError
            number = error.errno if isinstance(error, OSError) else None
            self._limit = self._limit or LIMITS.get(number or 0, "")
            return False
        return True

    def _watch(self, events: FolderEvents, folder: str) -> None:
        """Watch a folder for its followers, who notice if it is deleted in the meantime. Raises OSError."""
        is_deep = any(folder in each.deep for each in self._interests[folder])
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            events.add(folder, CONTENTS if is_deep else NAMES)

    def _drop(self, interest: _Interest) -> None:
        """Stop watching folders that have no other follower. Blocks."""
        for folder in (*interest.deep, *interest.shallow):
            left = tuple(each for each in self._interests.get(folder, ()) if each is not interest)
            if left:
                self._interests[folder] = left
            elif self._interests.pop(folder, None) and self._events:
                self._events.discard(folder)


def _folders_below(roots: Iterable[Path]) -> Iterator[str]:
    """Yield the given folders and all folders below them, each once. Raises OSError if there are too many."""
    seen: set[tuple[int, int]] = set()
    for root in roots:
        for folder, names, _ in os.walk(root, followlinks=True):
            about = os.stat(folder)
            identity = about.st_dev, about.st_ino
            if identity in seen:
                names.clear()
                continue
            seen.add(identity)
            if len(seen) > MAX_FOLDERS:
                raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))
            names[:] = [name for name in names if name not in SKIPPED]
            yield folder


def _misses_changes() -> bool:
    """Return whether this is WSL, where inotify misses changes on a Windows drive."""
    return "microsoft" in platform.release().lower()
