"""Checkpoint files before a call changes them: the files it names, or the whole workspace if it may change anything."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from hermes_acp.agent.turn.policy_timeout import within_timeout
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.messages import TextPart, UserMessage
from hermes_acp.core.ports.checkpoint_ports import CheckpointContext
from hermes_acp.core.proposals import Calls, Deletes, Effect, Runs, Writes

TITLE_CHARACTERS: Final = 80


def _checkpoint_context(turn: Turn) -> CheckpointContext:
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


async def checkpoint_before(turn: Turn, effects: Sequence[Effect]) -> None:
    """Checkpoint the workspace before a call with these effects; the checkpoint belongs to the outermost turn."""
    top = turn.outermost
    if top.calls.checkpoints is None:
        return
    is_whole = _may_change_anything(turn, effects)
    touched = await within_timeout(effects, lambda: _touched_by(turn, effects), [])
    if touched is not None:
        describe = partial(_checkpoint_context, top)
        await top.calls.checkpoints.before(top.id, touched, describe, is_whole=is_whole)


async def checkpoint_everything(turn: Turn) -> None:
    """Checkpoint all workspace folders, in the outermost turn's checkpoint, before another process changes them."""
    top = turn.outermost
    if top.calls.checkpoints is not None:
        describe = partial(_checkpoint_context, top)
        await top.calls.checkpoints.before(top.id, [], describe, is_whole=True)


def expect_checkpoint(turn: Turn, effects: Sequence[Effect]) -> None:
    """Start reading the folders while the user decides about a call that may change anything."""
    top = turn.outermost
    if top.calls.checkpoints is not None and any(isinstance(effect, Runs | Calls) for effect in effects):
        top.calls.checkpoints.expect(top.record.roots)


def _may_change_anything(turn: Turn, effects: Sequence[Effect]) -> bool:
    """Return whether a call may change files it does not name, either itself or through the user's hooks."""
    return bool(turn.deps.stages.before_call) or any(isinstance(effect, Runs | Calls) for effect in effects)


def _touched_by(turn: Turn, effects: Sequence[Effect]) -> list[str] | None:
    """Return the files that a call names explicitly, or None if it changes nothing."""
    if not any(_changes_something(turn, effect) for effect in effects):
        return None
    return [path for effect in effects for path in _touched(turn, effect)]


def _touched(turn: Turn, effect: Effect) -> Sequence[str]:
    """Return the files that an effect names explicitly; these are stored even if git ignores them."""
    match effect:
        case Writes(path=path) | Deletes(path=path):
            return (path,)
        case Runs():
            _, steps = turn.deps.policy.judge_steps(effect, "plan", ())
            return [path for judged in steps for path in (*judged.step.writes, *judged.step.deletes)]
        case _:
            return ()


def _changes_something(turn: Turn, effect: Effect) -> bool:
    """Return whether an effect may change files; commands allowed in plan mode are known to be read-only."""
    if isinstance(effect, Runs):
        place = turn.record.cwd
        return turn.deps.policy.judge((effect,), "plan", (), place=place).decision != "allow"
    return isinstance(effect, Writes | Deletes | Calls)
