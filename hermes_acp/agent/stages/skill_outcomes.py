"""Record whether the skills used in a turn succeeded or failed.

An unavailable model, a refusal or a missing approval says nothing about a skill and is not counted.
"""

from functools import partial
from typing import Final

from anyio.to_thread import run_sync

from hermes_acp.agent.turn.turn import PostflightStage, Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import Noticed
from hermes_acp.skills.skill_usage import SkillUsageTracker

FAILED: Final[frozenset[ExitReason]] = frozenset(
    {
        "bad_calls",
        "cancelled",
        "empty",
        "gave_up",
        "looping",
        "out_of_money",
        "out_of_steps",
        "out_of_time",
        "out_of_tokens",
    }
)
DONE: Final[frozenset[ExitReason]] = frozenset({"done"})


def skill_uses_stage(usage_tracker: SkillUsageTracker) -> PostflightStage:
    """Return the stage that counts uses in the home folder's skill usage log."""

    async def count_skill_uses(turn: Turn, ending: Ending) -> None:
        """Count a turn's skill uses, and report what was done about a failing skill."""
        session_id = turn.record.session_id
        if not usage_tracker.has_uses(session_id):
            return
        if ending.reason not in FAILED | DONE:
            usage_tracker.forget(session_id)
            return
        settle = partial(usage_tracker.settle, session_id, has_failed=ending.reason in FAILED)
        try:
            told = await run_sync(settle)
        except StorageError as error:
            told = (f"The use of skills in this turn was not recorded. {error.sentence()}",)
        for sentence in told:
            turn.emit(Noticed("warning", sentence))

    return count_skill_uses
