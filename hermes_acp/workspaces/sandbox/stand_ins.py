"""Things that have to be there for a while, so that nobody else makes them.

Knows: how many need each, and that only what is as it was made is taken away again. Does not know: why, or for whom.
"""

import errno
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock, Timer
from typing import Final

from hermes_acp.workspaces.sandbox.anchors import open_in_place
from hermes_acp.workspaces.sandbox.places import StandIn

REST_S: Final = 0.25


class StandIns:
    """The stand-ins of one workspace; several threads may come at once. All of it blocks but `release`."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._needed: dict[StandIn, int] = {}
        self._clearing: Timer | None = None

    def hold(self, wanted: Sequence[StandIn]) -> tuple[StandIn, ...]:
        """Make what is absent, and give what is held now; each hold is followed by one release."""
        held: list[StandIn] = []
        with self._lock:
            for each in wanted:
                if each in self._needed or _make(each):
                    self._needed[each] = self._needed.get(each, 0) + 1
                    held.append(each)
        return tuple(held)

    def release(self, held: Sequence[StandIn]) -> None:
        """Take away before long what nobody needs any more: the next command often comes at once."""
        if not held:
            return
        with self._lock:
            for each in held:
                self._needed[each] -= 1
            if self._clearing is not None:
                self._clearing.cancel()
            self._clearing = Timer(REST_S, self.clear)
            self._clearing.daemon = True
            self._clearing.start()

    def clear(self) -> None:
        """Take away at once what nobody needs, unless somebody else put something there."""
        with self._lock:
            for each in [each for each, count in self._needed.items() if not count]:
                del self._needed[each]
                _take_away(each)
            if self._clearing is not None:
                self._clearing.cancel()
            self._clearing = None

    def held(self) -> tuple[StandIn, ...]:
        """Give what is held for any."""
        with self._lock:
            return tuple(self._needed)


def _make(each: StandIn) -> bool:
    try:
        with _folder_of(each) as folder:
            name = os.path.basename(each.path)
            if each.content is None:
                os.mkdir(name, 0o755, dir_fd=folder)
                return True
            made = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=folder)
            with open(made, "wb") as file:
                file.write(each.content)
    except OSError:  # somebody else was first, nobody may write there, or it is somewhere else
        return False
    return True


def _take_away(each: StandIn) -> None:
    with suppress(OSError), _folder_of(each) as folder:
        name = os.path.basename(each.path)
        if each.content is None:
            os.rmdir(name, dir_fd=folder)
            return
        reading = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(name, reading, dir_fd=folder), "rb", buffering=0) as file:
            is_ours = file.read(len(each.content) + 1) == each.content
        if is_ours:
            os.unlink(name, dir_fd=folder)


@contextmanager
def _folder_of(each: StandIn) -> Generator[int]:
    """Hold the folder that something stands in open. Raises OSError where a link leads there."""
    place = os.path.dirname(each.path)
    folder = open_in_place(place)
    if folder is None:
        raise NotADirectoryError(errno.ENOTDIR, "a link leads there", place)
    try:
        yield folder
    finally:
        os.close(folder)
