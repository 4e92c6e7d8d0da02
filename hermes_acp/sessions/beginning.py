"""How a session comes into being: a checked place, a record, its first event.

Knows: what makes a working directory usable, what a record begins with. Does not know: event loops; a session can be
begun before there is one.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import SessionOpened
from hermes_acp.core.ports import Clock, Ids
from hermes_acp.core.record import Record
from hermes_acp.storage.sessions import SessionStore
from hermes_acp.storage.transcript import Transcript


class Beginning(Struct, frozen=True):
    """A session that is on disk and not yet alive."""

    transcript: Transcript
    record: Record


class Founder:
    """Begins sessions in one home folder."""

    def __init__(self, store: SessionStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    def begin(self, cwd: str, more_roots: Sequence[str], session_id: str | None = None) -> Beginning:
        """Begin a session, under a fresh id unless one is given; blocks on the disk for a moment.

        Raises BadRequest for a directory that cannot serve, StorageTrouble.
        """
        roots = checked_roots(os.path.normpath(cwd) if cwd else cwd, more_roots)
        session_id = session_id or self._ids.fresh("ses")
        begun = Beginning(self._store.create(session_id), Record())
        opened = SessionOpened(session_id, roots[0], roots, self._clock.now())
        begun.transcript.append(opened)
        begun.record.apply(opened)
        return begun


def checked_roots(cwd: str, more_roots: Sequence[str]) -> tuple[str, ...]:
    """Give a session's folders, the working directory first. Raises BadRequest for one that cannot serve."""
    for path in (cwd, *more_roots):
        if "\0" in path or not Path(path).is_absolute():
            raise BadRequest(f"{path!r} is not an absolute path.", hint="Give the whole path of the folder.")
        try:
            is_folder = Path(path).is_dir()
        except (OSError, ValueError) as error:
            raise BadRequest(f"{path!r} cannot be used: {error}.") from error
        if not is_folder:
            there = "is not a folder" if Path(path).exists() else "does not exist"
            raise BadRequest(f"{path!r} {there}.", hint="Open an existing folder.")
    return tuple(dict.fromkeys((cwd, *more_roots)))
