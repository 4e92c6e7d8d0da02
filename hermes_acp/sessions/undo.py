"""Undoing turns: what a user asks for, what is done, what they and the model are told.

Knows: the words behind `/undo`, the note that keeps the model from believing in what is gone. Does not know: how files
are put back, who shows the answer.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.core.checkpoints import Checkpoint, Restored
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.record import folded
from hermes_acp.sessions.children import lawful_ends
from hermes_acp.storage.checkpoints.keeper import Keeper, Undone
from hermes_acp.storage.transcript import Transcript

NAMED_AT_MOST: Final = 20
FORCE: Final = ("force", "--force")
HINT: Final = "how many turns, if not one; force, to undo what others changed since too"
NOTHING: Final = "There is nothing to undo: no turn of this session has changed a file since the last undo."
NOTHING_BACK: Final = "There is no undo to take back."


class Wanted(Struct, frozen=True):
    """What the words behind a command ask for."""

    count: int = 1
    force: bool = False


def read_wish(words: str) -> Wanted:
    """Read the words behind `/undo`. Raises BadRequest."""
    count, force = 1, False
    for word in words.split():
        if word.lower() in FORCE:
            force = True
        elif word.isascii() and word.isdigit() and 1 <= int(word) <= 10_000:
            count = int(word)
        else:
            raise BadRequest(
                f"/undo does not know {word[:40]!r}.", hint="Write `/undo`, `/undo 3` or `/undo force`."
            )
    return Wanted(count, force)


class Undoing:
    """Takes back turns of one session; `tell` records what its model must know."""

    def __init__(self, keeper: Keeper, session_id: str, tell: Callable[[NoteAdded], object]) -> None:
        self._keeper = keeper
        self._session_id = session_id
        self._tell = tell
        self.is_done = True
        """Whether nothing was in the way of the last one."""

    async def undo(self, words: str) -> str:
        """Take back the last turns and give the answer for the user. Raises CheckpointTrouble."""
        try:
            wanted = read_wish(words)
        except BadRequest as refusal:
            return refusal.sentence()
        done = await self._keeper.undo(self._session_id, wanted.count, force=wanted.force)
        if not done[1]:
            return NOTHING
        self._note(done)
        return answer_text(done, again="`/undo force`")

    async def redo(self, words: str) -> str:
        """Take back the last undo and give the answer for the user. Raises CheckpointTrouble."""
        try:
            wanted = read_wish(words)
        except BadRequest as refusal:
            return refusal.sentence().replace("undo", "redo")
        done = await self._keeper.redo(self._session_id, force=wanted.force)
        if not done[1]:
            return NOTHING_BACK
        self._note(done)
        return answer_text(done, again="`/redo force`")

    async def restore(self, checkpoint_id: str, paths: Sequence[str] | None, *, force: bool) -> Restored:
        """Take one checkpoint back, or what it did to some files. Raises BadRequest for one there is not."""
        done = await self._keeper.restore(self._session_id, checkpoint_id, paths, force=force)
        self._note(done)
        return done[0]

    def _note(self, done: Undone) -> None:
        restored, checkpoints = done
        self.is_done = not restored.conflicts
        if not restored.restored:
            return
        turns = [checkpoint for checkpoint in checkpoints if checkpoint.kind == "turn"]
        what = "the user undid what a turn of yours changed" if turns else "the user took an undo back"
        if titles := [f'"{turn.title}"' for turn in turns if turn.title]:
            what += f", begun with {', '.join(titles)}"
        files = _listed(restored.restored)
        self._tell(
            NoteAdded(
                f"[Since then {what}. These files are as they were before it:\n{files}\nRead before you change them.]"
            )
        )


@contextmanager
def held_record(path: Path) -> Generator[Callable[[NoteAdded], object]]:
    """Hold a stored session's record, and give what adds to it; what a killed process left open is closed first.

    Blocks. Raises Busy where an editor has it open, NotFound, StorageTrouble.
    """
    transcript, events, _ = Transcript.reopen(path)
    try:
        if transcript.trouble:
            raise transcript.trouble
        for event in lawful_ends(folded(events), path):
            transcript.append(event)
        yield transcript.append
    finally:
        transcript.close()


def answer_text(done: Undone, again: str = "") -> str:
    """Say what came of it, file by file."""
    restored, checkpoints = done
    parts: list[str] = []
    if restored.restored:
        parts.append(f"{_headline(checkpoints)}\n{_listed(restored.restored)}")
    elif not restored.conflicts:
        parts.append("Every file is as it was already.")
    if restored.conflicts:
        lines = [f"{conflict.path}: {conflict.why}" for conflict in restored.conflicts]
        head = "Left alone:" if restored.restored else "Nothing was undone, because of:"
        hint = "" if restored.restored or not again else f"\n{again} puts back all that can be."
        parts.append(f"{head}\n{_listed(lines)}{hint}")
    if left_out := sorted({path for each in checkpoints for path in each.left_out}):
        parts.append(f"Never kept, and as they are (too large, or not to be read):\n{_listed(left_out)}")
    return "\n\n".join(parts)


def _headline(checkpoints: Sequence[Checkpoint]) -> str:
    turns = [checkpoint for checkpoint in checkpoints if checkpoint.kind == "turn"]
    if not turns:
        return "The undo is taken back. Put back:"
    counted = "1 turn" if len(turns) == 1 else f"{len(turns)} turns"
    title = f" ({turns[0].title})" if len(turns) == 1 and turns[0].title else ""
    return f"Undid {counted}{title}; `/redo` takes that back. As they were before:"


def _listed(lines: Sequence[str]) -> str:
    more = [f"- and {len(lines) - NAMED_AT_MOST} more"] if len(lines) > NAMED_AT_MOST else []
    return "\n".join([*(f"- {line}" for line in lines[:NAMED_AT_MOST]), *more])
