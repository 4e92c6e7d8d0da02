"""Notes proposed while nobody was available to answer; they await approval and appear in no prompt.

Every change is written atomically under a lock, so that no crash or other process loses a proposal. Blocks: use it in a
worker thread.
"""

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import EventContext
from hermes_acp.core.ports.memory_ports import MemoryChange
from hermes_acp.storage.file_locks import file_lock
from hermes_acp.storage.private_files import storage_error, write_whole

MAX_PENDING: Final = 50
SHOWN_ACTIONS: Final = MappingProxyType({"add": "Add", "replace": "Replace", "remove": "Remove"})


class PendingNote(Struct, frozen=True):
    """A proposed change: the folder in which it was proposed, the file it would change, and when it was proposed."""

    id: str
    cwd: str
    file: str
    change: MemoryChange
    moment: EventContext


class PendingNotes:
    """The proposals in a home folder, the oldest first. Methods raise StorageError."""

    def __init__(self, home: Path) -> None:
        """Store the path without reading anything."""
        self.path = home / "memories" / "pending.jsonl"

    def all(self) -> tuple[PendingNote, ...]:
        """Return the pending proposals, skipping unreadable lines."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise storage_error("read the notes that wait in", self.path, error) from error
        notes: list[PendingNote] = []
        for line in lines:
            with suppress(msgspec.MsgspecError):
                notes.append(msgspec.json.decode(line, type=PendingNote))
        return tuple(notes)

    def add(self, cwd: str, file: Path, change: MemoryChange, moment: EventContext) -> None:
        """Store a proposal, ignoring duplicates. Raises BadRequest if too many are pending."""
        named = "\0".join((str(file), change.action, change.text, change.old_text, change.meant))
        note_id = hashlib.sha256(named.encode("utf-8", "surrogateescape")).hexdigest()[:8]

        def with_note(notes: tuple[PendingNote, ...]) -> tuple[PendingNote, ...]:
            if any(each.id == note_id for each in notes):
                return notes
            if len(notes) >= MAX_PENDING:
                raise BadRequest(
                    f"{len(notes)} notes are already waiting for the user's approval.",
                    hint="Continue without this note.",
                )
            return (*notes, PendingNote(note_id, cwd, str(file), change, moment))

        self._change(with_note)

    def drop(self, note_ids: Iterable[str]) -> None:
        """Remove proposals."""
        gone = frozenset(note_ids)
        self._change(lambda notes: tuple(each for each in notes if each.id not in gone))

    def _change(self, change: Callable[[tuple[PendingNote, ...]], tuple[PendingNote, ...]]) -> None:
        with file_lock(self.path.with_suffix(".lock")):
            notes = change(self.all())
            content = b"".join(msgspec.json.encode(each) + b"\n" for each in notes)
            try:
                write_whole(self.path, content, mode=0o600)
            except OSError as error:
                raise storage_error("write the notes that wait in", self.path, error) from error


def chosen(notes: Iterable[PendingNote], wanted: Iterable[str]) -> tuple[PendingNote, ...]:
    """Return the proposals with the given IDs, or all of them for `all`. Raises BadRequest for an unknown ID."""
    waiting, wanted = {each.id: each for each in notes}, tuple(wanted)
    if wanted == ("all",):
        return tuple(waiting.values())
    if unknown := [each for each in wanted if each not in waiting]:
        raise BadRequest(f"No pending note has the ID {unknown[0]!r}.", hint="`memory pending` lists them.")
    return tuple(waiting[each] for each in dict.fromkeys(wanted))


def describe_pending_note(note: PendingNote) -> str:
    """Describe a proposal for a person, with its full text and where later sessions would show it."""
    change = note.change
    where = {
        "memory": "shown in every workspace",
        "user": "about you, shown in every workspace",
        "workspace": f"shown in {note.cwd}",
    }[change.store]
    session = f" in session {note.moment.session_id}" if note.moment.session_id else ""
    lines = [f"{note.id}  {SHOWN_ACTIONS[change.action]} a note ({where}), proposed in {note.cwd}{session}"]
    if change.source == "found":
        lines.append("Not in your words: it may come from something that the agent has read.")
    if change.action != "add":
        lines.append(f"- {change.meant or change.old_text}")
    if change.action != "remove":
        lines.append(f"+ {change.text}")
    return "\n".join(lines).replace("\n", "\n   ")
