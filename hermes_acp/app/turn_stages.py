"""What happens around the steps of every turn, in its order.

Knows: all stages there are. Does not know: what any of them does, how a turn proceeds. Its imports are those of the
agent, so this module is imported with the first kit and not before.
"""

from collections.abc import Sequence
from typing import Literal

from hermes_acp.agent.compaction import make_room
from hermes_acp.agent.stages.budget import keep_within_budget, tell_unknown_price
from hermes_acp.agent.stages.checkpoint import close_checkpoint
from hermes_acp.agent.stages.compaction import keep_within_window
from hermes_acp.agent.stages.context_news import tell_context_news
from hermes_acp.agent.stages.frozen_prompt import freeze_prompt
from hermes_acp.agent.stages.judged_edits import tell_judged_edits
from hermes_acp.agent.stages.last_notice import tell_ending
from hermes_acp.agent.stages.loops import notice_loops
from hermes_acp.agent.stages.mode_notes import note_mode
from hermes_acp.agent.stages.model_title import ask_for_title
from hermes_acp.agent.stages.outcome_findings import OutcomeWatch
from hermes_acp.agent.stages.refund import refund_cheap_step
from hermes_acp.agent.stages.steering import read_inbox
from hermes_acp.agent.stages.strikes import count_strikes
from hermes_acp.agent.stages.title import name_session
from hermes_acp.agent.turn import Check, Closing, Stages


def turn_stages(
    titles: Literal["first_line", "model"],
    checks: tuple[Check, ...] = (),
    closings: tuple[Closing, ...] = (),
    more: Sequence[Stages] = (),
) -> Stages:
    """Give the stages; `titles` says what names a session, `checks` and `closings` are further ones by which it learns,
    `more` those that remember.

    The title comes first, as it is shown; budget and window last, as they may ask the model.
    """
    closing: tuple[Closing, ...] = (close_checkpoint, tell_ending, *closings)
    closing += tuple(stage for each in more for stage in each.postflight)
    if titles == "model":
        closing += (ask_for_title,)
    return Stages(
        preflight=(
            *(stage for each in more for stage in each.preflight),
            name_session,
            freeze_prompt,
            tell_unknown_price,
        ),
        before_step=(
            note_mode,
            tell_context_news,
            tell_judged_edits,
            *(stage for each in more for stage in each.before_step),
            read_inbox,
            keep_within_budget,
            keep_within_window,
        ),
        after_step=(refund_cheap_step, *checks, count_strikes, notice_loops),
        postflight=closing,
        relief=make_room,
    )


def watch_stages() -> Stages:
    """Give what looks through the outcomes of tools."""
    from hermes_acp.assembly.outer_tools import InjectionScanner

    return Stages(before_step=(OutcomeWatch(InjectionScanner().orders_in).warn,))


def look_back_stages() -> Stages:
    """Give those of a look back at a turn, which is a small turn of its own."""
    return Stages(
        preflight=(freeze_prompt,),
        before_step=(keep_within_budget,),
        after_step=(count_strikes, notice_loops),
    )
