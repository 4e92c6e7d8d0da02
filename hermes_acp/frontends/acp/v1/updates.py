"""Convert events to session updates.

The functions are pure, every event is handled, and live events and replays use the same code.
"""

from typing import Any, Final

from msgspec import UNSET, Struct

from hermes_acp.core.event_types import Diff, Location, PlanChanged
from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    CallProposed,
    CallStarted,
    ChildChanged,
    CommandAnswered,
    CompactionFailed,
    CompactionStarted,
    Event,
    HistoryCompacted,
    ModeChanged,
    Noticed,
    StepEnded,
    StepFailed,
    SummarySaid,
    TextSaid,
    ThoughtSaid,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    UserSaid,
)
from hermes_acp.core.record.session_record import CUT_OFF
from hermes_acp.frontends.acp.messages import conversation
from hermes_acp.frontends.acp.questions.answer_extras import rejected
from hermes_acp.frontends.acp.questions.call_meta import call_meta
from hermes_acp.frontends.acp.questions.large_diffs import brief_input, hunks_meta, is_large
from hermes_acp.frontends.acp.translation.call_results import raw_output
from hermes_acp.frontends.acp.translation.output_markdown import fenced
from hermes_acp.frontends.acp.translation.stop_reasons import STOP_REASONS
from hermes_acp.frontends.acp.v1.content import part_to_block
from hermes_acp.frontends.acp.v1.subagents import announcement
from hermes_protocol import v1

PLAN: Final = "plan"
UNSHOWN: Final = (TurnStarted, StepEnded, TurnEnded)
"""The most frequent events that editors are not sent, for skipping them early."""
Compaction = CompactionStarted | SummarySaid | HistoryCompacted | CompactionFailed


class UpdateView(Struct, frozen=True):
    """The circumstances of a conversion: whether it is a replay, and which kinds of updates the client accepts.

    Three fields describe a call that ends: `has_filled_card` is whether its card already has content; `rejection` is
    the comment with which the user rejected it, or None if they did not; `has_diffs` is whether a question has shown
    the client the same large diffs. `has_words` is whether part of a failed step's answer was shown.

    With `takes_turn_ends`, the client is told where and how each past turn ended. With `takes_turn_marks`, it is told
    the message ID of each prompt, and which steps failed. With `takes_hunks`, large diffs are sent as hunks.
    """

    is_replay: bool = False
    takes_turn_ends: bool = False
    takes_turn_marks: bool = False
    takes_notices: bool = False
    takes_plan_updates: bool = False
    takes_subagents: bool = False
    takes_compactions: bool = False
    has_filled_card: bool = False
    rejection: str | None = None
    has_words: bool = False
    takes_hunks: bool = False
    has_diffs: bool = False


def to_updates(event: Event, view: UpdateView) -> tuple[v1.SessionUpdate, ...]:
    """Return the updates that show an event to a client."""
    match event:
        case TextSaid():
            return (_agent_chunk(event.text, event.message_id),)
        case ThoughtSaid():
            return (_thought_chunk(event.text, event.message_id),)
        case UserSaid():
            return _user_chunks(event) if view.is_replay else _prompt_mark(event, view)
        case CallProposed() | CallStarted() | CallProgressed() | CallEnded():
            return _card(event, view)
        case StepFailed():
            return _restarted_answer(event, view)
        case PlanChanged():
            entries = [
                v1.PlanEntry(content=e.content, priority=e.priority, status=e.status) for e in event.entries
            ]
            if not view.takes_plan_updates:
                return (v1.Plan(entries=entries),)
            if not entries:
                return (v1.PlanRemoved(plan_id=PLAN),)
            return (v1.PlanUpdate(plan=v1.PlanItems(plan_id=PLAN, entries=entries)),)
        case ChildChanged():
            return (announcement(event),) if view.takes_subagents else ()
        case ModeChanged():
            return (v1.CurrentModeUpdate(current_mode_id=event.mode),)
        case TitleChanged():
            return (v1.SessionInfoUpdate(title=event.title),)
        case UsageChanged():
            cost = UNSET if event.cost_usd is None else v1.Cost(amount=event.cost_usd, currency="USD")
            return (v1.UsageUpdate(used=event.used_tokens, size=event.window_tokens, cost=cost),)
        case Noticed():
            return (_notice(event, view),)
        case CompactionStarted() | SummarySaid() | HistoryCompacted() | CompactionFailed():
            return _compaction(event) if view.takes_compactions else _news_of(event, view)
        case CommandAnswered():
            asked = v1.UserMessageChunk(content=v1.TextContent(text=event.prompt))
            answer = _agent_chunk(event.text, event.message_id)
            return (asked, answer) if view.is_replay else (answer,)
        case TurnEnded() if view.is_replay and view.takes_turn_ends:
            return (turn_end(event),)
        case _:
            return ()


def turn_end(event: TurnEnded) -> v1.SessionUpdate:
    """Return the update that says how a turn ended, with the data of a response to session/prompt."""
    reason = STOP_REASONS.get(event.reason) or "failed"
    said: dict[str, object] = {"turnId": event.turn_id, "reason": reason, "text": event.sentence}
    if event.error_code == CUT_OFF:
        said["isCutOff"] = True
    if event.reason == "input_required":
        said["isWaiting"] = True
    return v1.SessionInfoUpdate(meta={"hermes": {"turnEnded": said}})


def _prompt_mark(event: UserSaid, view: UpdateView) -> tuple[v1.SessionUpdate, ...]:
    """Return the update with the message ID of a recorded prompt, which `session/fork` can use as its end."""
    if not view.takes_turn_marks:
        return ()
    return (v1.SessionInfoUpdate(meta={"hermes": {"promptRecorded": {"messageId": event.message_id}}}),)


def _restarted_answer(event: StepFailed, view: UpdateView) -> tuple[v1.SessionUpdate, ...]:
    """Mark a failed step or, for clients that accept no notices, the interrupted text of a retried step."""
    if view.takes_turn_marks:
        failed = {"messageId": event.message_id, "retried": event.retried}
        return (v1.SessionInfoUpdate(meta={"hermes": {"stepFailed": failed}}),)
    if view.has_words and event.retried and not view.takes_notices:
        return (_agent_chunk(conversation.ANSWER_RESTARTED, event.message_id),)
    return ()


def _notice(event: Noticed, view: UpdateView) -> v1.SessionUpdate:
    if view.takes_notices:
        return v1.Notice(severity=event.level, title=event.text)
    return _thought_chunk(f"{event.text}\n", UNSET)


def _compaction(event: Compaction) -> tuple[v1.SessionUpdate, ...]:
    """Return the updates for a compaction; the summary of a failed attempt is withdrawn."""
    named = event.compaction_id
    match event:
        case CompactionStarted():
            summary = None if event.again else UNSET
            return (v1.CompactionUpdate(compaction_id=named, status="in_progress", summary=summary),)
        case SummarySaid():
            content = v1.TextContent(text=event.text)
            return (v1.CompactionSummaryChunk(compaction_id=named, content=content),)
        case HistoryCompacted():
            whole: list[v1.ContentBlock] | v1.UnsetType = UNSET
            if event.summary:
                whole = [v1.TextContent(text=event.summary)]
            return (v1.CompactionUpdate(compaction_id=named, status="completed", summary=whole),)
        case CompactionFailed():
            error = event.error if event.status == "failed" else UNSET
            return (v1.CompactionUpdate(compaction_id=named, status=event.status, summary=None, error=error),)


def _news_of(event: Compaction, view: UpdateView) -> tuple[v1.SessionUpdate, ...]:
    """Explain the pause during a compaction, and its failure, to clients without support for compactions."""
    match event:
        case CompactionStarted(again=False) if not view.is_replay:
            return (_notice(Noticed("info", conversation.COMPACTING), view),)
        case CompactionFailed(status="failed") if not view.is_replay:
            return (_notice(Noticed("warning", event.error), view),)
        case _:
            return ()


def _card(
    event: CallProposed | CallStarted | CallProgressed | CallEnded, view: UpdateView
) -> tuple[v1.SessionUpdate, ...]:
    match event:
        case CallProposed():
            return (
                v1.ToolCall(
                    tool_call_id=event.call_id,
                    title=event.title,
                    name=event.name,
                    kind=event.kind,
                    status="pending",
                    content=[] if is_large(event.diffs) else list(to_diffs(event.diffs)),
                    locations=to_locations(event.locations),
                    raw_input=brief_input(event.raw_input, event.diffs),
                    meta=call_meta(event),
                ),
            )
        case CallStarted():
            return (v1.SessionUpdateToolCallUpdate(tool_call_id=event.call_id, status="in_progress"),)
        case CallProgressed():
            content = v1.Terminal(terminal_id=event.terminal_id) if event.terminal_id else to_text(event.text)
            return (v1.SessionUpdateToolCallUpdate(tool_call_id=event.call_id, content=[content]),)
        case CallEnded():
            return (_card_end(event, view),)


def _card_end(event: CallEnded, view: UpdateView) -> v1.SessionUpdateToolCallUpdate:
    """Complete a card. A stopped call keeps its content, because its outcome only says that it was stopped.

    The card also keeps large diffs that it already shows.
    """
    stays = event.status == "cancelled" and view.has_filled_card
    if event.status == "completed" and view.has_diffs and not (event.parts or view.takes_hunks):
        stays = True
    content: list[v1.ToolCallContent] = [] if stays else [*to_diffs(event.diffs, as_hunks=view.takes_hunks)]
    if event.terminal_id and not view.is_replay:
        content.append(v1.Terminal(terminal_id=event.terminal_id))
    elif event.text and not (event.diffs and event.status == "completed"):
        content.append(to_text(event.text))
    content += (v1.Content(content=part_to_block(part)) for part in event.parts)
    return v1.SessionUpdateToolCallUpdate(
        tool_call_id=event.call_id,
        status="completed" if event.status == "completed" else "failed",
        content=UNSET if stays else content,
        locations=to_locations(event.locations) if event.locations else UNSET,
        raw_output=raw_output(event),
        meta=UNSET if view.rejection is None else rejected(view.rejection),
    )


def to_diffs(diffs: tuple[Diff, ...], *, as_hunks: bool = False) -> tuple[v1.Diff, ...]:
    """Convert diffs to the wire format; large ones become hunks if the client accepts them."""
    as_hunks = as_hunks and is_large(diffs)
    return tuple(_to_diff(diff, hunks_meta(diff) if as_hunks else None) for diff in diffs)


def _to_diff(diff: Diff, hunks: dict[str, Any] | None) -> v1.Diff:
    if hunks is None:
        return v1.Diff(path=diff.path, old_text=diff.old_text, new_text=diff.new_text)
    return v1.Diff(path=diff.path, old_text="", new_text="", meta=hunks)


def to_locations(locations: tuple[Location, ...]) -> list[v1.ToolCallLocation]:
    """Convert locations, so that an editor can follow them."""
    return [
        v1.ToolCallLocation(path=location.path, line=UNSET if location.line is None else location.line)
        for location in locations
    ]


def to_text(text: str) -> v1.Content:
    """Convert output to the content of a card."""
    return v1.Content(content=v1.TextContent(text=fenced(text)))


def _agent_chunk(text: str, message_id: str) -> v1.AgentMessageChunk:
    return v1.AgentMessageChunk(content=v1.TextContent(text=text), message_id=message_id)


def _thought_chunk(text: str, message_id: str | v1.UnsetType) -> v1.AgentThoughtChunk:
    return v1.AgentThoughtChunk(content=v1.TextContent(text=text), message_id=message_id)


def _user_chunks(event: UserSaid) -> tuple[v1.UserMessageChunk, ...]:
    return tuple(
        v1.UserMessageChunk(content=part_to_block(part), message_id=event.message_id) for part in event.parts
    )


def prompt_blocks(event: UserSaid) -> list[v1.ContentBlock]:
    """Convert a prompt to content blocks."""
    return [part_to_block(part) for part in event.parts]
