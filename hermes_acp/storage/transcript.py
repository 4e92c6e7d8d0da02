"""The append-only record of a session: one checksummed JSON object per line.

Each write is a single system call, so a killed process loses at most the line it was writing, which no client has been
shown yet.
"""

import errno
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from hermes_acp.core.errors import SessionNotFound, StorageError
from hermes_acp.core.events import AnyEvent, Event
from hermes_acp.storage.descriptor_limit import SHORTAGE, require_room
from hermes_acp.storage.disk_sync import sync_content, sync_file
from hermes_acp.storage.private_files import (
    lock_or_busy,
    private_folder,
    storage_error,
    sync_folder,
    unlock_and_close,
)
from hermes_acp.storage.record_lines import (
    count_readable,
    decode_timed,
    decode_whole,
    encode_line,
    is_foreign,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio import Lock

    from hermes_acp.core.ports.record_ports import RecordHold


class Transcript:
    """A session's record, held open and locked by this process."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._encoder = msgspec.json.Encoder()
        self._error: StorageError | None = None
        self._chain = 0
        self._size_bytes = 0
        self._settled = True
        self._is_new = False
        self.damage = ""
        """A sentence for the user about what was set aside when this record was opened, or an empty string."""
        self._syncing: Lock | None = None
        self.hold: RecordHold | None = None
        """This machine's claim on the record if it is shared with other machines."""
        self.is_followed = False
        """Whether a process on another machine appends to this record."""

    @property
    def trouble(self) -> StorageError | None:
        """The error that made this record read-only, if any."""
        return self._error or (self.hold.trouble if self.hold else None)

    def seal(self, trouble: StorageError) -> None:
        """Make the record read-only for the given reason."""
        self._error = self._error or trouble

    @classmethod
    def create(cls, path: Path) -> "Transcript":
        """Create a new record. Raises StorageError or DescriptorLimitError."""
        require_room("No session was started")
        private_folder(path.parent)
        transcript = cls._open(path, os.O_CREAT | os.O_EXCL)
        transcript._is_new = True
        return transcript

    @classmethod
    def reopen(
        cls, path: Path, prepare: "Callable[[Transcript], None] | None" = None
    ) -> tuple["Transcript", list[Event], int]:
        """Open an existing record; return it, its events, and how many bytes of a torn tail were moved aside.

        `prepare` is called with the locked record before it is read.

        The tail is moved to `NAME.torn` next to the record. A record that cannot be written is opened anyway, with its
        `trouble`, and its tail stays in place. Raises SessionNotFound, Busy, StorageError or DescriptorLimitError.
        """
        require_room(f"Session {path.stem!r} was not opened")
        if not path.is_file():
            raise SessionNotFound(
                f"There is no session {path.stem!r}.",
                session_id=path.stem,
                hint="List the sessions to see which exist.",
            )
        try:
            transcript = cls._open(path, 0)
        except StorageError as trouble:
            transcript = cls._open_to_read(path, trouble)
        try:
            if prepare:
                prepare(transcript)
            events, torn_bytes = transcript._read()
        except BaseException:
            transcript.close()
            raise
        return transcript, events, torn_bytes

    @staticmethod
    def delete(path: Path) -> None:
        """Remove a record if it exists. Raises Busy while another process has it open, or StorageError."""
        if not path.is_file():
            return
        transcript = Transcript._open(path, 0)
        try:
            path.unlink()
            path.with_suffix(".torn").unlink(missing_ok=True)
        except OSError as error:
            raise storage_error("delete the session record", path, error) from error
        finally:
            transcript.close()

    @staticmethod
    def read_events(path: Path, size_bytes: int = -1) -> list[Event]:
        """Return the events in all or the first bytes of a record that this process may have open elsewhere."""
        with path.open("rb") as record:
            return decode_whole(record.read(size_bytes)).events

    @staticmethod
    def read_timed(path: Path) -> list[tuple[Event, float | None]]:
        """Return the events of a record with their times in seconds since the epoch, or None for unrecorded times."""
        return list(decode_timed(path.read_bytes()))

    @classmethod
    def _open(cls, path: Path, flags: int) -> "Transcript":
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
        except OSError as error:
            raise storage_error("open the session record", path, error) from error
        try:
            lock_or_busy(descriptor, f"Session {path.stem!r}")
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    @classmethod
    def _open_to_read(cls, path: Path, trouble: StorageError) -> "Transcript":
        """Open a record that can be read but not written. Raises Busy, or `trouble` if reading fails too."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            raise trouble from None
        try:
            lock_or_busy(descriptor, f"Session {path.stem!r}")
        except BaseException:
            os.close(descriptor)
            raise
        transcript = cls(path, descriptor)
        transcript._error = StorageError(
            f"Session {path.stem!r} can be read but not continued: {trouble.message}", hint=trouble.hint
        )
        return transcript

    def _read(self) -> tuple[list[Event], int]:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise storage_error("read the session record", self.path, error) from error
        sound = decode_whole(content)
        events, self._chain, self._size_bytes = sound.events, sound.chain, sound.size_bytes
        if not events:
            raise StorageError(
                f"The record {self.path} has no readable event.",
                hint="The file was left unchanged; start a new session.",
            )
        torn = content[sound.size_bytes :]
        if is_foreign(torn[: torn.find(b"\n") + 1]):
            self._error = self._error or StorageError(
                f"Session {self.path.stem!r} contains events of a newer hermes-acp: "
                "it can be read up to there, but not continued.",
                hint="Update hermes-acp to continue it.",
            )
            return events, 0
        if torn and not self._error:
            self._set_aside(torn, sound.size_bytes)
            self.damage = _tell_damage(torn, len(events), self.path.with_suffix(".torn"))
        return events, len(torn)

    def _set_aside(self, torn: bytes, sound_bytes: int) -> None:
        try:
            with self.path.with_suffix(".torn").open("ab") as kept:
                kept.write(torn)
                kept.flush()
                sync_file(kept.fileno())
            os.ftruncate(self._descriptor, sound_bytes)
        except OSError as error:
            self._error = storage_error("repair the session record", self.path, error)

    def append(self, event: AnyEvent) -> AnyEvent:
        """Write an event and return it as written, with lone surrogates replaced, since UTF-8 cannot encode them.

        On return, the event survives the end of this process. Raises StorageError, after which the record is read-only.
        """
        if trouble := self.trouble:
            raise trouble
        try:
            body = self._encoder.encode(event)
        except UnicodeEncodeError:
            event = msgspec.convert(_without_surrogates(msgspec.to_builtins(event)), type(event))
            body = self._encoder.encode(event)
        self._write(body)
        return event

    def _write(self, body: bytes) -> None:
        line, chain = encode_line(body, self._chain, time.time_ns() // 1_000_000)
        written = 0
        try:
            self._look()
            written = os.write(self._descriptor, line)
            if written != len(line):
                written += os.write(self._descriptor, line[written:])
                if written != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with suppress(OSError):  # a partial line that remains is set aside at the next opening
                if written:
                    end = os.lseek(self._descriptor, 0, os.SEEK_END)
                    os.ftruncate(self._descriptor, end - written)
            raise self._give_up("write to the session record", error) from error
        self._chain = chain
        self._size_bytes += written
        self._settled = False
        if self.hold:
            self.hold.note_appended()

    def _look(self) -> None:
        """Detect changes by other programs, after which appended events could not be read back."""
        state = os.fstat(self._descriptor)
        if not stat.S_ISREG(state.st_mode) or (state.st_nlink and state.st_size == self._size_bytes):
            return
        done, hint = "changed by another program", "Open the session again to continue from its intact part."
        if not state.st_nlink:
            done, hint = "removed", "Start a new session."
        self._error = StorageError(
            f"The session record {self.path} was {done} while the session was open.", hint=hint
        )
        raise self._error

    async def settle(self) -> None:
        """Sync appended events to disk, and wait until other machines that share the record can read them.

        Costs nothing if there are no new events. Raises StorageError. If this disk fails, the record stays read-only,
        because the state that a failed sync leaves on disk is unknown.
        """
        if not self._settled or self._syncing:
            await self._settle_here()
        if self.hold:
            await self.hold.sent()

    async def _settle_here(self) -> None:
        from anyio import Lock, to_thread

        self._syncing = self._syncing or Lock()
        async with self._syncing:
            if self._settled or self._error:
                return
            self._settled = True
            try:
                await to_thread.run_sync(self._sync)
            except OSError as error:
                self._settled = False
                if error.errno in SHORTAGE:
                    return  # the lines are on disk; the name of a new file is synced with the next lines
                raise self._give_up("save the session record", error) from error
            except BaseException:
                self._settled = False  # a cancellation may have come before the thread started
                raise

    def _give_up(self, doing: str, error: OSError) -> StorageError:
        """Make the record read-only after an error. Reopening it determines whether it can be written again."""
        trouble = storage_error(doing, self.path, error)
        hint = f"{trouble.hint} Until it is opened again, this session can be read but not continued."
        self._error = StorageError(trouble.message, hint=hint)
        return self._error

    def _sync(self) -> None:
        sync_content(self._descriptor)
        if self._is_new:  # a new file is durable once its name and its possibly new folder's name are
            for folder in (self.path.parent, self.path.parent.parent):
                sync_folder(folder)
            self._is_new = False

    def close(self) -> None:
        """Close the file and release its lock. A shared record is released once its unsent part was sent."""
        unlock_and_close(self._descriptor)
        if self.hold:
            self.hold.close()


def _without_surrogates(value: Any) -> Any:
    """Replace lone surrogates in every string of plain data, including the keys of objects."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        plain = cast("dict[str, Any]", value)
        return {_without_surrogates(key): _without_surrogates(item) for key, item in plain.items()}
    return value


def _tell_damage(torn: bytes, sound_events: int, kept_in: Path) -> str:
    """Describe a tail torn by a crash, or damage in the middle of a record, which loses whole events."""
    readable = count_readable(torn)
    if not readable:
        return f"The last {len(torn):,} bytes of the record were torn; they are kept in {kept_in}."
    is_displaced = count_readable(torn[: torn.find(b"\n") + 1])
    what = "has missing, duplicated or reordered events" if is_displaced else "is damaged"
    return (
        f"The session's record {what} after event {sound_events:,}: the {readable:,} events after that "
        f"are no longer part of the conversation. They are kept in {kept_in}."
    )
