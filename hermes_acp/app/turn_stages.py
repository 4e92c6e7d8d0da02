"""What happens around the steps of every turn, in its order.

Knows: all stages there are. Does not know: what any of them does, how a turn proceeds. Its imports are those of the
agent, so this module is imported with the first kit and not before.
"""

from collections.abc import Sequence
from typing import Literal

from hermes_acp.agent.compaction.history_compaction import make_room
from hermes_acp.agent.stages.auto_compaction import keep_within_window
from hermes_acp.agent.stages.closing_checkpoint import close_checkpoint
from hermes_acp.agent.stages.context_notes import note_context_changes
from hermes_acp.agent.stages.ending_notice import show_ending
from hermes_acp.agent.stages.first_title import name_session
from hermes_acp.agent.stages.frozen_prompt import freeze_prompt
from hermes_acp.agent.stages.invalid_steps import count_invalid_steps
from hermes_acp.agent.stages.loop_detection import detect_loops
from hermes_acp.agent.stages.mode_notes import note_mode
from hermes_acp.agent.stages.model_title import ask_for_title
from hermes_acp.agent.stages.outcome_scan import OutcomeScanner
from hermes_acp.agent.stages.rejected_edits import note_rejected_edits
from hermes_acp.agent.stages.steering import steer_from_inbox
from hermes_acp.agent.stages.step_refund import refund_cheap_step
from hermes_acp.agent.stages.turn_budget import keep_within_budget, tell_unknown_price
from hermes_acp.agent.turn.turn import AfterStepStage, PostflightStage, TurnStages


def turn_stages(
    titles: Literal["first_line", "model"],
    checks: tuple[AfterStepStage, ...] = (),
    closings: tuple[PostflightStage, ...] = (),
    more: Sequence[TurnStages] = (),
) -> TurnStages:
    """Return the stages; `titles` says what names a session, `checks` and `closings` are further ones by which it
    learns,
    `more` those that remember.

    The title comes first, as it is shown; budget and window last, as they may ask the model.
    """
    closing: tuple[PostflightStage, ...] = (close_checkpoint, show_ending, *closings)
    closing += tuple(stage for each in more for stage in each.postflight)
    if titles == "model":
        closing += (ask_for_title,)
    return TurnStages(
        preflight=(
            *(stage for each in more for stage in each.preflight),
            name_session,
            freeze_prompt,
            tell_unknown_price,
        ),
        before_step=(
            note_mode,
            note_context_changes,
            note_rejected_edits,
            *(stage for each in more for stage in each.before_step),
            steer_from_inbox,
            keep_within_budget,
            keep_within_window,
        ),
        after_step=(refund_cheap_step, *checks, count_invalid_steps, detect_loops),
        postflight=closing,
        relief=make_room,
    )


def outcome_scan_stages() -> TurnStages:
    """Return what looks through the outcomes of tools."""
    from hermes_acp.app.external_tools import InjectionScanner

    return TurnStages(before_step=(OutcomeScanner(InjectionScanner().orders_in).warn,))


def reflection_stages() -> TurnStages:
    """Return those of a look back at a turn, which is a small turn of its own."""
    return TurnStages(
        preflight=(freeze_prompt,),
        before_step=(keep_within_budget,),
        after_step=(count_invalid_steps, detect_loops),
    )
