"""Run a turn like a transaction: within its time limit, to a named ending, followed by its postflight stages."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from hermes_acp.agent.calls.tool_calls import close_open_calls
from hermes_acp.agent.loop.turn_loop import run_turn
from hermes_acp.agent.turn.turn import PostflightStage, Turn
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.core.errors import HermesError, ModelError, StorageError
from hermes_acp.core.events import Noticed, TurnEnded, TurnStarted, UserSaid
from hermes_acp.core.messages import TextPart

POSTFLIGHT_S: Final = 10.0


async def run_to_ending(turn: Turn, run: Callable[[Turn], Awaitable[Ending]] = run_turn) -> Ending:
    """Run a turn and return its ending; only cancellation and bugs raise.

    `run` replaces the default loop.
    """
    timeout_s = turn.limits.timeout_s
    try:
        with anyio.move_on_after(timeout_s):
            return await run(turn)
    except StorageError as error:
        return make_ending("storage_trouble", error.sentence(), error.code)
    except ModelError as error:
        return make_ending("model_trouble", error.sentence(), error.code)
    except HermesError as error:
        return make_ending("gave_up", error.sentence(), error.code)
    return make_ending("out_of_time", f"Stopped after {timeout_s:g} s, the time limit of a turn.")


async def finalize(turn: Turn, ending: Ending) -> Ending:
    """Close open calls and run the postflight stages, within a time limit even if the turn was cancelled.

    Returns the final ending. If the record cannot be written, no stage runs and the ending says so.
    """
    if ending.reason == "storage_trouble":
        return ending
    try:
        if ending.reason != "input_required":
            close_open_calls(turn)
        with anyio.move_on_after(POSTFLIGHT_S, shield=True):
            for stage in turn.deps.stages.postflight:
                await _close(stage, turn, ending)
    except StorageError as error:
        return make_ending("storage_trouble", error.sentence(), error.code)
    return ending


async def _close(stage: PostflightStage, turn: Turn, ending: Ending) -> None:
    try:
        await stage(turn, ending)
    except StorageError:
        raise
    except HermesError as error:
        turn.emit(Noticed("warning", error.sentence()))


async def run_unprompted(turn: Turn, words: str) -> TurnEnded:
    """Run a turn that no user prompted, with `words` as its prompt; whatever happens, close its record.

    Returns how it ended. Raises StorageError.
    """
    turn.emit(TurnStarted(turn.id, trace_parent=turn.origin.trace.parent))
    turn.emit(UserSaid(turn.deps.ids.fresh("msg"), (TextPart(words),)))
    try:
        ending = await run_to_ending(turn)
    except BaseException as error:
        stopped = isinstance(error, anyio.get_cancelled_exc_class())
        await finalize_and_record(turn, make_ending("cancelled" if stopped else "gave_up"))
        raise
    return await finalize_and_record(turn, ending)


async def finalize_and_record(turn: Turn, ending: Ending) -> TurnEnded:
    """Finalize a turn and record its end, even if it was cancelled. Raises StorageError."""
    ended = to_turn_ended(turn, ending)
    with anyio.CancelScope(shield=True):
        ended = to_turn_ended(turn, await finalize(turn, ending))
        if ended.reason != "storage_trouble":
            turn.emit(ended)
            await turn.ledger.settle()
    return ended


def to_turn_ended(turn: Turn, ending: Ending) -> TurnEnded:
    """Convert a turn's ending and usage to the event that records its end."""
    spent = turn.spent
    return TurnEnded(
        turn.id,
        ending.reason,
        ending.sentence,
        ending.error_code,
        steps=spent.steps,
        usage=spent.usage,
        cost_usd=spent.cost_usd,
    )
