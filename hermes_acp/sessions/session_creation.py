"""Create sessions: check the folders, create the record, write the first event.

Needs no event loop, so that sessions can be created before one runs.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.core.event_types import Surface
from hermes_acp.core.events import Event, SessionOpened
from hermes_acp.core.ports.runtime_ports import Clock, Ids
from hermes_acp.core.record.session_record import Record
from hermes_acp.storage.private_files import storage_error
from hermes_acp.storage.session_store import SESSION_ID, SessionStore, is_child
from hermes_acp.storage.transcript import Transcript


class CreatedSession(Struct, frozen=True):
    """A session that is on disk but not live yet; it may have inherited a history."""

    transcript: Transcript
    record: Record
    has_past: bool = False


class SessionCreator:
    """Create sessions in one home folder."""

    def __init__(
        self, store: SessionStore, clock: Clock, ids: Ids, is_foreign: Callable[[str], bool] | None = None
    ) -> None:
        """Initialise the creator. `is_foreign` returns whether a folder belongs to another profile."""
        self._is_foreign = is_foreign
        self._store = store
        self._clock = clock
        self._ids = ids

    def begin(
        self, cwd: str, more_roots: Sequence[str], session_id: str | None = None, surface: Surface = ""
    ) -> CreatedSession:
        """Create a session without a history; see `begin_with_history`."""
        return self.begin_with_history((), cwd, more_roots, session_id, surface)

    def begin_with_history(
        self,
        past: Iterable[Event],
        cwd: str,
        more_roots: Sequence[str],
        session_id: str | None = None,
        surface: Surface = "",
    ) -> CreatedSession:
        """Create a session with a history, under a new ID unless one is given. Blocks briefly on disk I/O.

        Raises BadRequest for an unusable directory or ID, and StorageError.
        """
        if session_id and is_child(session_id):
            raise BadRequest(
                f"The ID {session_id!r} is reserved for sessions of child agents.",
                hint="Choose an ID without a dot.",
            )
        if session_id and not SESSION_ID.fullmatch(session_id):
            raise BadRequest(
                f"{session_id[:80]!r} is not a valid session ID.",
                hint="Use 1 to 128 letters, digits, - and _.",
            )
        roots = self.checked_roots(os.path.normpath(cwd) if cwd else cwd, more_roots)
        session_id = session_id or self._ids.fresh("ses")
        transcript, record = self._store.create(session_id), Record()
        has_past = False
        try:
            opened = SessionOpened(session_id, roots[0], roots, self._clock.now(), surface=surface)
            record.apply(transcript.append(opened))
            for event in past:
                has_past = True
                record.apply(transcript.append(event))
        except BaseException as error:
            transcript.close()
            with suppress(OSError):
                transcript.path.unlink()
            if isinstance(error, StorageError) and isinstance(error.__cause__, OSError):
                # The original error's message assumes that the record already existed.
                raise storage_error("begin the session record", transcript.path, error.__cause__) from error
            raise
        return CreatedSession(transcript, record, has_past)

    def checked_roots(self, cwd: str, more_roots: Sequence[str]) -> tuple[str, ...]:
        """Return the validated folders of a session, the working directory first.

        Raises BadRequest for a folder that is unusable or belongs to another profile.
        """
        for path in (cwd, *more_roots):
            if "\0" in path or not Path(path).is_absolute():
                raise BadRequest(
                    f"{path!r} is not an absolute path.", hint="Send the absolute path of the folder."
                )
            try:
                is_folder = Path(path).is_dir()
            except (OSError, ValueError) as error:
                raise BadRequest(f"{path!r} cannot be used: {error}.") from error
            if not is_folder:
                there = "is not a folder" if Path(path).exists() else "does not exist"
                raise BadRequest(f"{path!r} {there}.", hint="Open an existing folder.")
            if self._is_foreign is not None and self._is_foreign(path):
                raise BadRequest(f"{path!r} belongs to another profile.", hint="Open another folder.")
        return tuple(dict.fromkeys((cwd, *more_roots)))
