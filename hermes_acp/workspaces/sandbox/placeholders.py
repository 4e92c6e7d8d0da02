"""Placeholders that temporarily occupy paths, so that no other program creates them.

Only unchanged placeholders are removed again. A placeholder is recognised by its sticky bit, which it has from
creation; a lock on it shows that this or another session needs it.
"""

import errno
import fcntl
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock, Timer
from typing import Final

from hermes_acp.workspaces.sandbox.path_handles import open_in_place
from hermes_acp.workspaces.sandbox.sandbox_mounts import Placeholder, is_placeholder

REMOVAL_DELAY_S: Final = 0.25
MAX_TRIES: Final = 50
PLACEHOLDER_FOLDER: Final = 0o1755
PLACEHOLDER_FILE: Final = 0o1644
OPEN_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class Placeholders:
    """The placeholders of one workspace. Thread-safe; every method blocks except `release`."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._needed: dict[Placeholder, int] = {}
        self._held: dict[Placeholder, int] = {}
        self._clearing: Timer | None = None
        self._kept_by = 0

    @contextmanager
    def kept_in_place(self) -> Generator[None]:
        """Prevent removals within the block, so that existing placeholders remain until they are held."""
        with self._lock:
            self._kept_by += 1
        try:
            yield
        finally:
            with self._lock:
                self._kept_by -= 1
                if not self._kept_by and not all(self._needed.values()):
                    self._clear_soon()

    def hold(self, wanted: Sequence[Placeholder]) -> tuple[Placeholder, ...]:
        """Create missing placeholders and return those now held; each hold must be followed by one release."""
        held: list[Placeholder] = []
        with self._lock:
            for each in wanted:
                if each not in self._held and (made := _make(each)) is not None:
                    self._held[each] = made
                if each in self._held:
                    self._needed[each] = self._needed.get(each, 0) + 1
                    held.append(each)
        return tuple(held)

    def release(self, held: Sequence[Placeholder]) -> None:
        """Remove unneeded placeholders soon, but not at once, because the next command often follows immediately."""
        if not held:
            return
        with self._lock:
            for each in held:
                self._needed[each] -= 1
            self._clear_soon()

    def _clear_soon(self) -> None:
        if self._clearing is not None:
            self._clearing.cancel()
        self._clearing = Timer(REMOVAL_DELAY_S, self.clear)
        self._clearing.daemon = True
        self._clearing.start()

    def clear(self) -> None:
        """Remove unneeded placeholders at once, unless they must stay or someone put something there."""
        with self._lock:
            if self._kept_by:
                return
            for each in [each for each, count in self._needed.items() if not count]:
                del self._needed[each]
                _take_away(each, self._held.pop(each))
            if self._clearing is not None:
                self._clearing.cancel()
            self._clearing = None

    def held(self) -> tuple[Placeholder, ...]:
        """Return all held placeholders."""
        with self._lock:
            return tuple(self._needed)


def _make(each: Placeholder) -> int | None:
    """Create a missing placeholder, or take over another session's; return a descriptor that keeps it there."""
    for _ in range(MAX_TRIES):
        try:
            with _folder_of(each) as folder:
                held = _create(each, folder) if not os.path.lexists(each.path) else _take_over(each, folder)
        except (FileExistsError, FileNotFoundError):  # another session created it first, or just removed it
            continue
        except OSError:  # not writable, or moved elsewhere
            return None
        if held is not None:
            return held
    return None


def _create(each: Placeholder, folder: int) -> int | None:
    name = os.path.basename(each.path)
    if each.content is None:
        os.mkdir(name, PLACEHOLDER_FOLDER, dir_fd=folder)
        made = os.open(name, OPEN_FLAGS | os.O_DIRECTORY, dir_fd=folder)
    else:
        made = os.open(
            name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PLACEHOLDER_FILE, dir_fd=folder
        )
        os.write(made, each.content)
    return _locked(made, each, folder)


def _take_over(each: Placeholder, folder: int) -> int | None:
    if not is_placeholder(each.path):
        raise FileExistsError(errno.EEXIST, "somebody's own", each.path)
    return _locked(os.open(os.path.basename(each.path), OPEN_FLAGS, dir_fd=folder), each, folder)


def _locked(held: int, each: Placeholder, folder: int) -> int | None:
    """Keep others from removing a placeholder; return None if it was just removed."""
    with suppress(OSError):  # some file systems do not support these locks
        fcntl.flock(held, fcntl.LOCK_SH)
    try:
        now = os.stat(os.path.basename(each.path), dir_fd=folder, follow_symlinks=False)
        if os.path.samestat(now, os.fstat(held)):
            return held
    except FileNotFoundError:
        pass
    os.close(held)
    return None


def _take_away(each: Placeholder, held: int) -> None:
    """Remove an unchanged placeholder, unless another session needs it."""
    try:
        with suppress(OSError), _folder_of(each) as folder:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            name = os.path.basename(each.path)
            now = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not is_placeholder(each.path) or not os.path.samestat(now, os.fstat(held)):
                return
            if each.content is None:
                os.rmdir(name, dir_fd=folder)
            elif os.pread(held, len(each.content) + 1, 0) == each.content:
                os.unlink(name, dir_fd=folder)
    finally:
        os.close(held)


@contextmanager
def _folder_of(each: Placeholder) -> Generator[int]:
    """Open the folder of a placeholder. Raises OSError if a link leads there."""
    place = os.path.dirname(each.path)
    folder = open_in_place(place)
    if folder is None:
        raise NotADirectoryError(errno.ENOTDIR, "a link leads there", place)
    try:
        yield folder
    finally:
        os.close(folder)
