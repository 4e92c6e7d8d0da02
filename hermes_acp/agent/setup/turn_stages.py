"""Assemble the stages around the steps of every turn, in order.

This module imports all stages, so it is not imported before the first turn.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from hermes_acp.agent.compaction.history_compaction import make_room
from hermes_acp.agent.stages.auto_compaction import keep_within_window
from hermes_acp.agent.stages.closing_checkpoint import close_checkpoint
from hermes_acp.agent.stages.context_notes import note_context_changes
from hermes_acp.agent.stages.deferred_tools import note_deferred_tools
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
from hermes_acp.agent.stages.turn_budget import keep_within_budget, report_unknown_price
from hermes_acp.agent.turn.turn import AfterStepStage, PostflightStage, Stage, Turn, TurnStages
from hermes_acp.agent.turn.turn_endings import Ending

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_acp.agent.children.reflection import Reflection
    from hermes_acp.config.sections.memory_settings import MemorySettings
    from hermes_acp.config.sections.skill_settings import SkillSettings
    from hermes_acp.config.settings import Settings
    from hermes_acp.memory.external_memory import ExternalMemory
    from hermes_acp.recall.recall_service import RecallService
    from hermes_acp.skills.skill_service import SkillService
    from hermes_acp.skills.skill_usage import SkillUsageTracker


def turn_stages(
    titles: Literal["first_line", "model"],
    checks: tuple[AfterStepStage, ...] = (),
    closings: tuple[PostflightStage, ...] = (),
    more: Sequence[TurnStages] = (),
) -> TurnStages:
    """Return the stages of a turn.

    `titles` determines how sessions are named; `checks` and `closings` are the learning stages; `more` contains those
    for recall, memory and the scanner. The title comes first, because it is shown; budget and window come last, because
    they may ask the model.
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
            report_unknown_price,
        ),
        before_step=(
            note_mode,
            note_context_changes,
            note_deferred_tools,
            note_rejected_edits,
            *(stage for each in more for stage in each.before_step),
            steer_from_inbox,
            keep_within_budget,
            keep_within_window,
        ),
        after_step=(refund_cheap_step, *checks, count_invalid_steps, detect_loops),
        postflight=closing,
        on_window_full=make_room,
    )


def memory_stages(
    memory: "ExternalMemory | None", settings: "MemorySettings", is_attended: Callable[[], bool]
) -> TurnStages:
    """Return the stages for the memory service that the user chose, if any, and for the reminder to take notes."""
    section = settings.service
    reminders: tuple[Stage, ...] = ()
    if settings.enabled and settings.remind_after_turns:
        from hermes_acp.agent.stages.memory.memory_reminder import memory_reminder_stage

        reminders = (memory_reminder_stage(settings.remind_after_turns),)
    if memory is None or section is None:
        return TurnStages(before_step=reminders)
    from hermes_acp.agent.stages.memory.external_memory_stages import outside_memory_stages

    outside = outside_memory_stages(memory, lambda: section.in_headless or is_attended(), is_attended)
    return structs.replace(outside, before_step=(*outside.before_step, *reminders))


def recall_stages(settings: "Settings", recall: "RecallService", skills: "SkillService") -> TurnStages:
    """Return the stages that suggest skills for a prompt before the first step and update embeddings after a turn."""

    async def follow(turn: Turn, ending: Ending) -> None:
        recall.follow_soon()

    postflight = (follow,) if recall.semantic_index else ()
    if not (settings.recall.names_skills and settings.skills.enabled):
        return TurnStages(postflight=postflight)
    from hermes_acp.agent.stages.suggested_skills import skill_suggestion_stages

    suggester = skills.suggester(lambda: recall.semantic_index, recall.report)
    look, name = skill_suggestion_stages(suggester)
    return TurnStages(preflight=(look,), before_step=(name,), postflight=postflight)


def learning_stages(
    settings: "SkillSettings",
    usage_tracker: "SkillUsageTracker",
    reflection: "Callable[[], Reflection]",
    index: Callable[[str], str],
    reflecting: TurnStages,
) -> tuple[tuple[AfterStepStage, ...], tuple[PostflightStage, ...]]:
    """Return the stages that learn for later sessions, after a step and after a turn.

    `index` returns the prompt's text about the skills available in a folder; it blocks. `reflecting` lists the stages
    of a reflection.
    """
    from hermes_acp.agent.stages.skill_outcomes import skill_uses_stage

    counting = skill_uses_stage(usage_tracker)
    if not (settings.enabled and settings.learning and settings.look_back_after_calls):
        return (), (counting,)
    from hermes_acp.agent.children.reflection import ReflectionConfig

    terms = ReflectionConfig(settings.look_back_after_calls, reflecting, index)
    return (reflection().count,), (counting, reflection().due(terms))


def outcome_scan_stages() -> TurnStages:
    """Return the stages that scan tool outcomes."""
    from injection_scanner.foreign_text import InjectionScanner

    return TurnStages(before_step=(OutcomeScanner(InjectionScanner().orders_in).warn,))


def recording_stages(home: "Path") -> TurnStages:
    """Return the stages that record the content of a session's requests for exports."""
    from hermes_acp.agent.setup.offered_tools import OfferedToolsRecorder
    from hermes_acp.storage.tool_schema_store import ToolSchemaStore

    return TurnStages(before_step=(OfferedToolsRecorder(ToolSchemaStore(home)).note,))


def reflection_stages() -> TurnStages:
    """Return the stages of a reflection, which runs as a small turn of its own."""
    return TurnStages(
        preflight=(freeze_prompt,),
        before_step=(keep_within_budget,),
        after_step=(count_invalid_steps, detect_loops),
    )
