"""A turn as a transaction: within its time, ended by name whatever happens, with its postflight done.

Knows: which failure is which ending, and that what comes after a turn comes after every turn. Does not know: what a
turn does, what is done after it, who is told.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from hermes_acp.agent.endings import name_ending
from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.tool_calls import close_open_calls
from hermes_acp.agent.turn import Closing, Ending, Turn
from hermes_acp.core.errors import HermesError, ModelTrouble, StorageTrouble
from hermes_acp.core.events import Noticed, TurnEnded, TurnStarted, UserSaid
from hermes_acp.core.messages import TextPart

POSTFLIGHT_S: Final = 10.0


async def fly(turn: Turn, run: Callable[[Turn], Awaitable[Ending]] = run_turn) -> Ending:
    """Run a turn to its end and name it; only a cancel and a bug are raised. `run` is what it does, if not as usual."""
    timeout_s = turn.limits.timeout_s
    try:
        with anyio.move_on_after(timeout_s):
            return await run(turn)
    except StorageTrouble as trouble:
        return name_ending("storage_trouble", trouble.sentence(), trouble.code)
    except ModelTrouble as trouble:
        return name_ending("model_trouble", trouble.sentence(), trouble.code)
    except HermesError as trouble:
        return name_ending("gave_up", trouble.sentence(), trouble.code)
    return name_ending("out_of_time", f"Stopped after {timeout_s:g} s, the limit of a turn.")


async def land(turn: Turn, ending: Ending) -> Ending:
    """Close what the turn left open and do what comes after it, in bounded time even if it was cancelled.

    Give the ending that holds: nothing is done after one whose record cannot be written, and it is the ending if that
    is found out here.
    """
    if ending.reason == "storage_trouble":
        return ending
    try:
        close_open_calls(turn)
        with anyio.move_on_after(POSTFLIGHT_S, shield=True):
            for stage in turn.kit.stages.postflight:
                await _close(stage, turn, ending)
    except StorageTrouble as trouble:
        return name_ending("storage_trouble", trouble.sentence(), trouble.code)
    return ending


async def _close(stage: Closing, turn: Turn, ending: Ending) -> None:
    try:
        await stage(turn, ending)
    except StorageTrouble:
        raise
    except HermesError as trouble:
        turn.emit(Noticed("warning", trouble.sentence()))


async def fly_with(turn: Turn, words: str) -> TurnEnded:
    """Fly a turn that nobody prompted, from these words on, and close its record whatever happens.

    Give how it ended. Raises StorageTrouble.
    """
    turn.emit(TurnStarted(turn.id))
    turn.emit(UserSaid(turn.ids.fresh("msg"), (TextPart(words),)))
    try:
        ending = await fly(turn)
    except BaseException as error:
        stopped = isinstance(error, anyio.get_cancelled_exc_class())
        await finish(turn, name_ending("cancelled" if stopped else "gave_up"))
        raise
    return await finish(turn, ending)


async def finish(turn: Turn, ending: Ending) -> TurnEnded:
    """Land a turn and close its record, even if it was cancelled; give how it ended. Raises StorageTrouble."""
    ended = told(turn, ending)
    with anyio.CancelScope(shield=True):
        ended = told(turn, await land(turn, ending))
        if ended.reason != "storage_trouble":
            turn.emit(ended)
            await turn.ledger.settle()
    return ended


def told(turn: Turn, ending: Ending) -> TurnEnded:
    """Tell how a turn ended and what it used."""
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
