"""Warn a model that keeps making the same call, and end the turn if it continues."""

from hashlib import blake2b
from typing import Final

from hermes_acp.agent.turn.loop_guard import Repeatable
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.agent.turn.turn_step import CallOutcome, TurnStep
from hermes_acp.core.events import NoteAdded

WARNED_AT: Final = 3
ENDED_AT: Final = 5
WARNING: Final = (
    "[You have made the same call of {names} {times} times and nothing changed. Do not make it again: try another "
    "approach, or give your answer and say what prevents you.]"
)


async def detect_loops(turn: Turn, step: TurnStep) -> Ending | None:
    """Count the calls in a step: add a note at the third repetition, and end the turn at the fifth."""
    warned: dict[str, None] = {}
    for outcome in step.outcomes:
        if outcome.is_repeat or outcome.status == "cancelled":
            continue
        times = turn.guards.loops.count(_repeatable(outcome), has_effect=not outcome.is_cheap)
        if times >= ENDED_AT:
            return make_ending(
                "looping",
                f"Stopped because the model made the same call of {outcome.name} {times} times without effect.",
            )
        if times == WARNED_AT:
            warned[outcome.name] = None
    if warned:
        turn.emit(NoteAdded(WARNING.format(names=" and ".join(warned), times=WARNED_AT)))
    return None


def _repeatable(outcome: CallOutcome) -> Repeatable:
    """Return the call with a digest of its result; all failures of a call count as equal."""
    if outcome.status == "failed":
        return Repeatable(outcome.call)
    return Repeatable(
        outcome.call, blake2b(outcome.text.encode("utf-8", "replace"), digest_size=16).hexdigest()
    )
