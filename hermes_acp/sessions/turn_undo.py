"""Undo turns: parse the request, restore the files, and tell the user and the model.

Memory notes that a turn wrote are reverted with its files. A note in the record tells the model what changed.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, Literal

from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.ports.checkpoint_ports import RestoreResult
from hermes_acp.core.record.session_record import fold_events
from hermes_acp.core.untrusted_text import plain
from hermes_acp.memory.note_changes import NoteChanges, RevertedNotes
from hermes_acp.sessions.child_sessions import events_to_close
from hermes_acp.storage.checkpoints.checkpoint_manager import CheckpointManager
from hermes_acp.storage.session_store import SessionStore

MAX_NAMED: Final = 20
MAX_NAMED_IN_LINE: Final = 3
FORCE: Final = ("force", "--force")
HINT: Final = "number of turns (default 1); force, to also undo files that were changed since then"
NOTHING: Final = (
    "There is nothing to undo: no turn of this session has changed a file or a note since the last undo."
)
NOTHING_RESTORED: Final = "There is no undo to revert."


class UndoRequest(Struct, frozen=True):
    """A parsed undo request."""

    count: int = 1
    force: bool = False


def parse_undo_request(words: str) -> UndoRequest:
    """Parse the words after `/undo`. Raises BadRequest."""
    count, force = 1, False
    for word in words.split():
        if word.lower() in FORCE:
            force = True
        elif word.isascii() and word.isdigit() and 1 <= int(word) <= 10_000:
            count = int(word)
        else:
            raise BadRequest(
                f"/undo does not accept {word[:40]!r}.", hint="Write `/undo`, `/undo 3` or `/undo force`."
            )
    return UndoRequest(count, force)


class TurnUndo:
    """Undoes turns of one session, including their memory notes; `tell` records a note for the session's model."""

    def __init__(
        self,
        keeper: CheckpointManager,
        notes: NoteChanges,
        now: Callable[[], float],
        session_id: str,
        tell: Callable[[NoteAdded], object],
    ) -> None:
        self._keeper = keeper
        self._notes = notes
        self._now = now
        self._session_id = session_id
        self._tell = tell
        self.is_done = True
        """Whether the last operation completed without conflicts."""

    async def undo(self, words: str) -> str:
        """Undo the last turns and return the answer for the user. Raises CheckpointError or StorageError."""
        try:
            wanted = parse_undo_request(words)
        except BadRequest as refusal:
            return refusal.sentence()
        kept = [each for each in await self._keeper.holding(self._session_id) if each.kind == "turn"]
        noted = await run_sync(self._notes.holding, self._session_id)
        began = noted | {each.turn_id: each.created_at for each in kept}
        turns = sorted(began, key=lambda turn: began[turn])[-wanted.count :]
        if not turns:
            return NOTHING
        done, back = RestoreResult(), RevertedNotes()
        if count := sum(each.turn_id in turns for each in kept):
            done = await self._keeper.undo(self._session_id, count, force=wanted.force)
        if not done.is_refused:
            back = await self._forget(turns, done.checkpoint_id)
        self._note(done, back, "undid")
        return answer_text(done, back, f"Undid {_counted(turns, done)}", again="`/undo force`")

    async def redo(self, words: str) -> str:
        """Revert the last undo and return the answer for the user. Raises CheckpointError or StorageError."""
        try:
            wanted = parse_undo_request(words)
        except BadRequest as refusal:
            return refusal.sentence().replace("undo", "redo")
        undos = [each for each in await self._keeper.holding(self._session_id) if each.kind == "undo"]
        of_files = (undos[-1].id, undos[-1].created_at) if undos else ("", 0.0)
        of_notes = await run_sync(self._notes.last_undo, self._session_id)
        last = (
            of_files[0]
            if of_files[0] == of_notes[0]
            else max(of_files, of_notes, key=lambda each: each[1])[0]
        )
        if not last:
            return NOTHING_RESTORED
        done, back = RestoreResult(), RevertedNotes()
        if last == of_files[0]:
            done = await self._keeper.redo(self._session_id, force=wanted.force)
        if last == of_notes[0] and not done.is_refused:
            back = await self._remember(last)
        self._note(done, back, "reverted an undo")
        return answer_text(done, back, "The undo was reverted", again="`/redo force`")

    async def restore(self, checkpoint_id: str, paths: Sequence[str] | None, *, force: bool) -> RestoreResult:
        """Revert one checkpoint, or only its changes to the given files. Raises BadRequest if it is unknown."""
        done = await self._keeper.restore(self._session_id, checkpoint_id, paths, force=force)
        back = RevertedNotes()
        if paths is None and not done.is_refused:
            turns = [each.turn_id for each in done.turns]
            back = await (self._forget(turns, done.checkpoint_id) if turns else self._remember(checkpoint_id))
        self._note(done, back, "undid" if done.turns else "reverted an undo")
        return done

    async def _forget(self, turns: Sequence[str], checkpoint_id: str) -> RevertedNotes:
        """Revert the memory notes of the turns, as part of the undo of their files or as a separate undo."""
        from hermes_acp.memory.memory_store import reapply_change

        now = self._now()
        by = checkpoint_id or f"notes of {turns[-1]}, {now}"
        return await run_sync(self._notes.revert, self._session_id, turns, by, now, reapply_change)

    async def _remember(self, by: str) -> RevertedNotes:
        from hermes_acp.memory.memory_store import reapply_change

        return await run_sync(self._notes.reapply, self._session_id, by, reapply_change)

    def _note(
        self, done: RestoreResult, back: RevertedNotes, what: Literal["undid", "reverted an undo"]
    ) -> None:
        self.is_done = not done.conflicts and not back.left
        if not done.restored and not back.done:
            return
        parts = [
            "the user undid the changes of one of your turns"
            if what == "undid"
            else "the user reverted an undo"
        ]
        if titles := [f'"{turn.title}"' for turn in done.turns if turn.title]:
            parts.append(f", which started with {', '.join(titles)}")
        if done.restored:
            files = _listed(done.restored)
            parts.append(f". These files are as they were before it:\n{files}\nRead before you change them")
        if back.done:
            parts.append(
                f". These notes for later sessions are as they were before it:\n{_listed_notes(back.done)}\n"
            )
        undone = tuple(turn.turn_id for turn in done.turns) if what == "undid" else ()
        self._tell(NoteAdded(f"[Since then {''.join(parts).rstrip()}.]", undone=undone))


@asynccontextmanager
async def locked_record(
    store: SessionStore, session_id: str
) -> AsyncGenerator[Callable[[NoteAdded], object]]:
    """Lock a stored session's record and yield a function that appends events to it.

    Whatever a killed process left open is closed first. Raises Busy if another process has the session open,
    SessionNotFound or StorageError.
    """
    await store.sharing.fetch(session_id)
    transcript, events, _ = await run_sync(store.sharing.reopen, session_id)
    try:
        if transcript.trouble:
            raise transcript.trouble
        for event in await run_sync(events_to_close, fold_events(events), transcript.path):
            transcript.append(event)
        yield transcript.append
        await transcript.settle()
    finally:
        transcript.close()


def answer_text(done: RestoreResult, back: RevertedNotes, headline: str, again: str = "") -> str:
    """Describe the result of an undo for the user, file by file and note by note."""
    parts: list[str] = []
    is_undo = headline.startswith("Undid")
    if done.restored or back.done:
        parts.append(f"{headline}{'; `/redo` reverts that' if is_undo else ''}.")
    elif not done.conflicts and not back.left:
        parts.append("No file needed to change.")
    if done.restored:
        parts.append(f"{'As they were before' if is_undo else 'Put back'}:\n{_listed(done.restored)}")
    if back.done:
        parts.append(f"{'Notes reverted' if is_undo else 'Notes restored'}:\n{_listed_notes(back.done)}")
    if done.conflicts:
        lines = [f"{conflict.path}: {conflict.why}" for conflict in done.conflicts]
        head = "Left alone:" if done.restored else "Nothing was undone, because of:"
        hint = "" if done.restored or not again else f"\n{again} restores everything that can be restored."
        parts.append(f"{head}\n{_listed(lines)}{hint}")
    if back.left:
        parts.append(f"Notes left alone:\n{_listed_notes(back.left)}")
    if left_out := sorted({path for each in done.taken_back for path in each.left_out}):
        named = ", ".join(left_out[:MAX_NAMED_IN_LINE])
        more = len(left_out) - MAX_NAMED_IN_LINE
        others = f" and {more} more" if more > 0 else ""
        parts.append(f"Not covered by undo (keys, too large or unreadable): {named}{others}")
    return "\n\n".join(parts)


def _counted(turns: Sequence[str], done: RestoreResult) -> str:
    titles = [turn.title for turn in done.turns]
    title = f" ({titles[0]})" if len(turns) == 1 and titles and titles[0] else ""
    return ("1 turn" if len(turns) == 1 else f"{len(turns)} turns") + title


def _listed_notes(notes: Sequence[str]) -> str:
    return _listed([plain(note) for note in notes])


def _listed(lines: Sequence[str]) -> str:
    more = [f"- and {len(lines) - MAX_NAMED} more"] if len(lines) > MAX_NAMED else []
    return "\n".join([*(f"- {line}" for line in lines[:MAX_NAMED]), *more])
