"""Provide the agent's notes: the tool's port, the prompt layer and `/memory`; nothing if notes are disabled."""

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hermes_acp.core.errors import HermesError, StorageError

if TYPE_CHECKING:
    from hermes_acp.config.sections.memory_settings import MemorySettings
    from hermes_acp.memory.memory_snapshot import MemorySnapshot

WAITING: Final = (
    "{notes} for your approval, proposed while you could not be asked. `/memory` shows each in full; "
    "decide with `/memory approve ID` or `/memory reject ID` (`all` for all of them)."
)


def notes_ports(settings: "MemorySettings", home: Path, is_attended: Callable[[], bool]) -> dict[str, object]:
    """Return the ports for the notes tool, or none if notes are disabled.

    If nobody is present, workspace notes need approval too and are therefore deferred.
    """
    if not settings.enabled:
        return {}
    from hermes_acp.memory.memory_store import MemoryStore

    return {"memories": MemoryStore(home), "asks_to_remember": lambda: settings.ask or not is_attended()}


def notes_layer(settings: "MemorySettings", home: Path, cwd: str, now: float) -> "MemorySnapshot":
    """Return the notes to show to a session that starts at `now` (seconds since the epoch). Blocks."""
    from hermes_acp.memory.memory_snapshot import MemorySnapshot, take_snapshot
    from hermes_acp.memory.memory_store import MemoryStore
    from hermes_acp.storage.allowed_texts import read_allowed

    if not settings.enabled:
        return MemorySnapshot("")
    return take_snapshot(MemoryStore(home), cwd, read_allowed(home), now)


class PendingNoteNotices:
    """Notifies the user, once per note, about notes that were proposed in their absence and await approval."""

    def __init__(self, home: Path, is_attended: Callable[[], bool]) -> None:
        """Store the arguments without reading anything."""
        self._home = home
        self._is_attended = is_attended
        self._stamp = 0
        self._known: frozenset[str] = frozenset()

    def news(self) -> Sequence[str]:
        """Return a notice if there are new pending notes. Reads a small file if it has changed."""
        try:
            stamp = os.stat(self._home / "memories" / "pending.jsonl").st_mtime_ns
        except OSError:
            return ()
        if stamp == self._stamp or not self._is_attended():
            return ()
        from hermes_acp.memory.pending_notes import PendingNotes

        try:
            waiting = frozenset(note.id for note in PendingNotes(self._home).all())
        except StorageError as error:
            return (error.sentence(),)
        finally:
            self._stamp = stamp
        is_new, self._known = bool(waiting - self._known), waiting
        return (WAITING.format(notes=_counted(len(waiting))),) if is_new else ()


def _counted(count: int) -> str:
    return "1 note is waiting" if count == 1 else f"{count} notes are waiting"


def settle_pending(home: Path, request: str) -> str:
    """Answer `/memory`: list the pending notes, or approve or reject the named ones. Blocks."""
    from hermes_acp.memory.memory_store import MemoryStore
    from hermes_acp.memory.pending_notes import chosen, describe_pending_note

    memory = MemoryStore(home)
    waiting = memory.pending.all()
    action, *wanted = shlex.split(request) or [""]
    if action not in ("approve", "reject") or not wanted:
        if not waiting:
            return "No notes are waiting for your approval."
        return f"{WAITING.format(notes=_counted(len(waiting)))}\n\n" + "\n\n".join(
            f"```\n{describe_pending_note(note)}\n```" for note in waiting
        )
    try:
        notes = chosen(waiting, wanted)
        if action == "reject":
            memory.pending.drop(note.id for note in notes)
            return f"Rejected: {', '.join(note.id for note in notes)}."
        for note in notes:
            memory.approve(note)
        return f"Noted: {', '.join(note.id for note in notes)}. The next session will see it."
    except HermesError as error:
        return error.sentence()
