"""Record which turn changed which note, and undo such changes.

Blocks: use it in a worker thread. Only the most recent changes in a home folder are stored.
"""

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.event_types import EventContext
from hermes_acp.core.ports.memory_ports import MemoryStoreName, NoteSource
from hermes_acp.memory.note_confidence import NoteOrigin
from hermes_acp.storage.file_locks import file_lock
from hermes_acp.storage.private_files import storage_error, write_whole

MAX_KEPT: Final = 500
MAX_BYTES: Final = 1 << 20
"""The size beyond which the oldest changes are dropped."""


class NoteChange(Struct, frozen=True):
    """A change to a note in a store's file: `gone` was replaced with `come`.

    Either may be empty. `undone_by` names the undo that reverted it, at the time `undone_at`. If both texts are the
    same, the note was confirmed. `source` says where `come` is from.
    """

    moment: EventContext
    store: MemoryStoreName
    file: str
    gone: str
    come: str
    undone_by: str = ""
    undone_at: float = 0.0
    source: NoteSource = ""


Make = Callable[[NoteChange], str]
"""Applies a change and returns a short reason if that failed, or an empty string."""


class RevertedNotes(Struct, frozen=True):
    """The result of reverting changes: the notes affected, and those left unchanged, each with a short reason."""

    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class NoteChanges:
    """The changes to a home folder's notes. Methods raise StorageError."""

    def __init__(self, home: Path) -> None:
        self._path = home / "history" / "note-changes.jsonl"

    def add(self, change: NoteChange) -> None:
        """Record a change on a line of its own, so that a torn line damages no other."""
        with self._held():
            try:
                with open(self._path, "ab", opener=_private) as stream:
                    stream.write(b"\n" + msgspec.json.encode(change))
                    is_long = stream.tell() > MAX_BYTES
            except OSError as error:
                raise storage_error("write", self._path, error) from error
            if is_long:
                self._write(self._read()[-MAX_KEPT:])

    def origins(self, file: str) -> dict[str, NoteOrigin]:
        """Return when and from where each note in a file comes. Notes written by hand are left out."""
        return {
            each.come: NoteOrigin(each.moment, each.source)
            for each in self._read()
            if each.file == file and not each.undone_by
        }

    def holding(self, session_id: str) -> dict[str, float]:
        """Return a session's turns whose notes were not undone, each with the time of its first note."""
        turns: dict[str, float] = {}
        for each in self._of(session_id):
            if not each.undone_by:
                turns.setdefault(each.moment.turn_id, each.moment.at)
        return turns

    def last_undo(self, session_id: str) -> tuple[str, float]:
        """Return the name and time of the last undo in a session that reverted notes.

        The name is empty if there is none.
        """
        undone = [each for each in self._of(session_id) if each.undone_by]
        last = max(undone, key=lambda each: each.undone_at, default=None)
        return (last.undone_by, last.undone_at) if last else ("", 0.0)

    def revert(
        self, session_id: str, turns: Collection[str], by: str, at: float, make: Make
    ) -> RevertedNotes:
        """Revert the notes written in certain turns, the newest change first, as part of the undo named `by`."""
        meant = [each for each in self._of(session_id) if not each.undone_by and each.moment.turn_id in turns]
        wanted = [structs.replace(each, gone=each.come, come=each.gone) for each in reversed(meant)]
        self._mark(meant, by, at)
        return _made(wanted, make)

    def reapply(self, session_id: str, by: str, make: Make) -> RevertedNotes:
        """Reapply the changes that the undo named `by` reverted."""
        meant = [each for each in self._of(session_id) if each.undone_by == by]
        self._mark(meant, "", 0.0)
        return _made(meant, make)

    def _mark(self, meant: Collection[NoteChange], by: str, at: float) -> None:
        with self._held():
            self._write(
                structs.replace(each, undone_by=by, undone_at=at) if each in meant else each
                for each in self._read()
            )

    def _of(self, session_id: str) -> list[NoteChange]:
        return [each for each in self._read() if each.moment.session_id == session_id]

    def _held(self) -> AbstractContextManager[None]:
        return file_lock(self._path.with_suffix(".lock"))

    def _write(self, changes: Iterable[NoteChange]) -> None:
        content = b"".join(b"\n" + msgspec.json.encode(change) for change in changes)
        try:
            write_whole(self._path, content, mode=0o600)
        except OSError as error:
            raise storage_error("write", self._path, error) from error

    def _read(self) -> list[NoteChange]:
        """Return the readable changes, the oldest first."""
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error("read", self._path, error) from error
        changes: list[NoteChange] = []
        for line in lines:
            with suppress(msgspec.MsgspecError):
                changes.append(msgspec.json.decode(line, type=NoteChange))
        return changes


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _made(wanted: Iterable[NoteChange], make: Make) -> RevertedNotes:
    done: list[str] = []
    left: list[str] = []
    for each in wanted:
        note = each.gone or each.come
        if why := make(each):
            left.append(f"{note}: {why}")
        else:
            done.append(note)
    return RevertedNotes(tuple(done), tuple(left))
