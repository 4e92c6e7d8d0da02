"""What a session's turns do so that they can be undone: the state before the first change is kept, and that after.

Knows: which effects change something, that a turn has one checkpoint however many calls and children it has, that work
goes on where none can be kept. Does not know: how a state is kept.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import anyio

from hermes_acp.agent.turn.policy_timeout import within_timeout
from hermes_acp.core.events import Noticed
from hermes_acp.core.messages import TextPart, UserMessage
from hermes_acp.core.ports.checkpoint_ports import CheckpointContext, CheckpointError, Checkpoints
from hermes_acp.core.proposals import Calls, Deletes, Effect, Runs, Writes

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn

TITLE_CHARACTERS: Final = 80


class TurnCheckpoints:
    """The checkpoints of one session; one turn at a time has it."""

    def __init__(self, find: Callable[[], Checkpoints | None]) -> None:
        """Keep nothing yet; `find` gives where to keep it, or None where that is not wanted, or raises why not."""
        self._find = find
        self._lock = anyio.Lock()
        self._checkpoint = ""
        self._given_up = ""
        self._touched: dict[str, None] = {}
        self._is_expected = False
        self._told: set[str] = set()

    def expect(self, turn: "Turn") -> None:
        """Get ready for a change: a turn that looks around is likely to make one."""
        if self._is_expected:
            return
        self._is_expected = True
        try:
            if checkpoints := self._find():
                checkpoints.expect(turn.record.roots)
        except CheckpointError:
            return  # told when there is something to keep

    async def before(self, turn: "Turn", touched: Sequence[str]) -> None:
        """Keep what is there before these files (absolute), or any, are changed; a failure is told once."""
        async with self._lock:
            if self._given_up == turn.id:
                return
            fresh = [path for path in touched if path not in self._touched]
            try:
                checkpoints = self._find()
                if checkpoints is None:
                    return
                if not self._checkpoint:
                    self._checkpoint = await checkpoints.open(_checkpoint_title(turn), fresh)
                elif fresh:
                    await checkpoints.add(self._checkpoint, fresh)
                self._touched |= dict.fromkeys(fresh)
            except CheckpointError as trouble:
                self._given_up = "" if self._checkpoint else turn.id
                self._tell(turn, trouble)

    async def after(self, turn: "Turn") -> None:
        """Keep what is there when the turn is over, if anything may have changed."""
        async with self._lock:
            checkpoint, touched = self._checkpoint, tuple(self._touched)
            self._checkpoint, self._touched = "", {}
            if not checkpoint:
                return
            try:
                if checkpoints := self._find():
                    await checkpoints.close(checkpoint, touched)
            except CheckpointError as trouble:
                self._tell(turn, trouble)

    def _tell(self, turn: "Turn", trouble: CheckpointError) -> None:
        sentence = trouble.sentence()
        if sentence not in self._told:
            self._told.add(sentence)
            turn.emit(Noticed("warning", sentence))


def _checkpoint_title(turn: "Turn") -> CheckpointContext:
    said = (
        part.text
        for message in reversed(turn.record.messages)
        if isinstance(message, UserMessage) and message.origin == "user"
        for part in message.parts
        if isinstance(part, TextPart) and part.text.strip()
    )
    first_line = next(said, "").strip().partition("\n")[0]
    title = turn.deps.redactor.clean(first_line)[:TITLE_CHARACTERS]
    return CheckpointContext(turn.record.session_id, turn.id, title, turn.record.roots)


async def checkpoint_before(turn: "Turn", effects: Sequence[Effect]) -> None:
    """Keep the state before a call with these effects, in the checkpoint of the turn that all others work for."""
    top = turn.outermost
    if top.turn_checkpoints is None:
        return
    touched = await within_timeout(effects, lambda: _touched_by(turn, effects), [])
    if touched is not None:
        await top.turn_checkpoints.before(top, touched)
    else:
        top.turn_checkpoints.expect(top)


def _touched_by(turn: "Turn", effects: Sequence[Effect]) -> list[str] | None:
    """Return the files that a call names as its own; None where it changes nothing at all."""
    if not any(_changes_something(turn, effect) for effect in effects):
        return None
    return [path for effect in effects for path in _touched(turn, effect)]


def _touched(turn: "Turn", effect: Effect) -> Sequence[str]:
    """Return the files that an effect names as its own, so that they are kept even where they are ignored."""
    match effect:
        case Writes(path=path) | Deletes(path=path):
            return (path,)
        case Runs():
            _, steps = turn.deps.policy.judge_steps(effect, "plan", ())
            return [path for judged in steps for path in (*judged.step.writes, *judged.step.deletes)]
        case _:
            return ()


def _changes_something(turn: "Turn", effect: Effect) -> bool:
    """Return whether an effect may change files; of a command, what plan mode lets pass is known to only read."""
    if isinstance(effect, Runs):
        place = turn.record.cwd
        return turn.deps.policy.judge((effect,), "plan", (), place=place).decision != "allow"
    return isinstance(effect, Writes | Deletes | Calls)
