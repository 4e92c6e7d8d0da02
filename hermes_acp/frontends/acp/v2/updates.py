"""Convert events to session updates.

Live events and replays use the same code; transient information, such as the state of a turn, is not replayed. A
command's output is shown in a separate terminal, whose ID is that of the call.
"""

import base64
import os.path
from collections.abc import Iterator

from msgspec import UNSET, structs

from hermes_acp.core.event_types import Diff, Location, PlanChanged
from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    CallProposed,
    CallStarted,
    CommandAnswered,
    CompactionFailed,
    CompactionStarted,
    Event,
    HistoryCompacted,
    Noticed,
    PermissionAnswered,
    PermissionAsked,
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
from hermes_acp.frontends.acp.questions.answer_extras import rejected
from hermes_acp.frontends.acp.questions.call_meta import call_meta
from hermes_acp.frontends.acp.translation.call_results import raw_output
from hermes_acp.frontends.acp.translation.output_markdown import fenced
from hermes_acp.frontends.acp.translation.stop_reasons import STOP_REASONS, failure_code
from hermes_acp.frontends.acp.v2.content import part_to_block
from hermes_acp.frontends.acp.v2.git_patches import git_patch
from hermes_acp.tools.approval_text import approval_text
from hermes_protocol import v2

PLAN = "plan"
Update = v2.SessionUpdate


class UpdateStream:
    """Converts the events of one session for one client."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._cards: dict[str, CallProposed] = {}
        self._outputs: dict[str, str] = {}
        self._at_work: set[str] = set()
        self._rejected: dict[str, str] = {}
        self._said = self._thought = ""

    def tell(self, event: Event, *, is_replay: bool = False) -> tuple[Update, ...]:
        """Return the updates for the next event."""
        match event:
            case PermissionAnswered(answer="reject_once" | "reject_always"):
                self._rejected[event.call_id] = event.comment
                return () if is_replay else (_state(event),)
            case TurnStarted() | TurnEnded() | PermissionAsked() | PermissionAnswered():
                return () if is_replay else (_state(event),)
            case TextSaid() | ThoughtSaid() | UserSaid() | CommandAnswered() | StepFailed():
                return self._words(event, is_replay=is_replay)
            case CallProposed() | CallStarted() | CallProgressed() | CallEnded():
                return tuple(self._card(event))
            case CompactionStarted() | SummarySaid() | HistoryCompacted() | CompactionFailed():
                return _compaction(event)
            case PlanChanged():
                entries = [
                    v2.PlanEntry(content=e.content, priority=e.priority, status=e.status)
                    for e in event.entries
                ]
                return (v2.PlanUpdate(plan=v2.PlanItems(plan_id=PLAN, entries=entries)),)
            case TitleChanged():
                return (v2.SessionInfoUpdate(title=event.title),)
            case UsageChanged():
                cost = UNSET if event.cost_usd is None else v2.Cost(amount=event.cost_usd, currency="USD")
                return (v2.UsageUpdate(used=event.used_tokens, size=event.window_tokens, cost=cost),)
            case Noticed():
                return (v2.Notice(severity=event.level, title=event.text),)
            case _:
                return ()

    def _words(
        self, event: TextSaid | ThoughtSaid | UserSaid | CommandAnswered | StepFailed, *, is_replay: bool
    ) -> tuple[Update, ...]:
        """Return the updates for messages; those of a failed step are withdrawn when the step is retried."""
        match event:
            case TextSaid():
                self._said = event.message_id
                return (v2.AgentMessageChunk(message_id=event.message_id, content=_text(event.text)),)
            case ThoughtSaid():
                self._thought = event.message_id
                return (v2.AgentThoughtChunk(message_id=event.message_id, content=_text(event.text)),)
            case UserSaid():
                blocks = [part_to_block(part) for part in event.parts]
                return (v2.UserMessage(message_id=event.message_id, content=blocks),)
            case CommandAnswered():
                asked = v2.UserMessage(message_id=event.message_id, content=[_text(event.prompt)])
                answer = v2.AgentMessage(message_id=event.message_id, content=[_text(event.text)])
                if is_replay:
                    return (asked, answer)
                end = v2.SessionUpdateIdleStateUpdate(stop_reason="end_turn")
                return (v2.SessionUpdateRunningStateUpdate(), asked, answer, end)
            case StepFailed():
                broken = event.message_id if event.retried else None
                said = (v2.AgentMessage(message_id=self._said, content=None),) * (self._said == broken)
                thought = (v2.AgentThought(message_id=self._thought, content=None),)
                return (*said, *thought * (self._thought == broken))

    def _card(self, event: CallProposed | CallStarted | CallProgressed | CallEnded) -> Iterator[Update]:
        call_id = event.call_id
        match event:
            case CallProposed():
                self._cards[call_id] = event
                yield _on_card(card_of(event))
            case CallStarted():
                command = command_of(self._cards.get(call_id))
                self._at_work.add(call_id)
                may_cancel = v2.ToolCallCapabilities(cancel=v2.ToolCallCancelCapabilities())
                if command is None:
                    yield v2.SessionUpdateToolCallUpdate(
                        tool_call_id=call_id, status="in_progress", capabilities=may_cancel
                    )
                    return
                self._outputs[call_id] = ""
                line, cwd = command
                place = os.path.normpath(os.path.join(self._cwd, cwd))
                may_end = v2.TerminalCapabilities(cancel=v2.TerminalCancelCapabilities())
                yield v2.TerminalUpdate(terminal_id=call_id, command=line, cwd=place, capabilities=may_end)
                yield v2.SessionUpdateToolCallUpdate(
                    tool_call_id=call_id,
                    status="in_progress",
                    content=[v2.Terminal(terminal_id=call_id)],
                    capabilities=may_cancel,
                )
            case CallProgressed():
                yield from self._progress(event)
            case CallEnded():
                yield from self._end(event)

    def _progress(self, event: CallProgressed) -> Iterator[Update]:
        """Return the new output, or the whole output if its start was dropped."""
        call_id, before = event.call_id, self._outputs.get(event.call_id)
        if before is None:
            if event.text:
                content: list[v2.ToolCallContent] = [_output(event.text)]
                yield v2.SessionUpdateToolCallUpdate(tool_call_id=call_id, content=content)
            return
        self._outputs[call_id] = event.text
        if not event.text.startswith(before):
            yield v2.TerminalUpdate(terminal_id=call_id, output=v2.TerminalOutput(data=_base64(event.text)))
        elif more := event.text[len(before) :]:
            yield v2.TerminalOutputChunk(terminal_id=call_id, data=_base64(more))

    def _end(self, event: CallEnded) -> Iterator[Update]:
        """Complete a card: an empty card gets the result appended; other content is replaced."""
        card = self._cards.pop(event.call_id, None)
        # A stopped call's card keeps its content, because the outcome only says that the call was stopped.
        is_stopped = event.status == "cancelled"
        was_at_work = event.call_id in self._at_work
        self._at_work.discard(event.call_id)
        content: list[v2.ToolCallContent] | v2.UnsetType = UNSET
        if self._outputs.pop(event.call_id, None) is not None:
            own = None if is_stopped else event.text
            if event.output_characters is not None:
                own = event.text[: event.output_characters]
            yield v2.TerminalUpdate(
                terminal_id=event.call_id,
                output=UNSET if own is None else v2.TerminalOutput(data=_base64(own)),
                exit_status=v2.TerminalExitStatus(
                    exit_code=UNSET if event.exit_code is None else event.exit_code,
                    signal=event.signal or UNSET,
                ),
                capabilities=None,
            )
        elif event.diffs:
            content = to_diffs(event.diffs)
            if event.text and event.status != "completed":
                content.append(_output(event.text))
        elif card and card.diffs:
            content = UNSET if is_stopped else [_output(event.text)]
        elif event.text:
            yield v2.ToolCallContentChunk(tool_call_id=event.call_id, content=_output(event.text))
        for part in event.parts:
            block = v2.Content(content=part_to_block(part))
            if content is UNSET:
                yield v2.ToolCallContentChunk(tool_call_id=event.call_id, content=block)
            else:
                content.append(block)
        rejection = self._rejected.pop(event.call_id, None)
        yield v2.SessionUpdateToolCallUpdate(
            tool_call_id=event.call_id,
            status=event.status,
            content=content,
            locations=_locations(event.locations) if event.locations else UNSET,
            raw_output=raw_output(event),
            capabilities=None if was_at_work else UNSET,
            meta=UNSET if rejection is None else rejected(rejection),
        )


def card_of(call: CallProposed) -> v2.ToolCallUpdate:
    """Return the card for a call before it runs."""
    return v2.ToolCallUpdate(
        tool_call_id=call.call_id,
        title=call.title,
        name=call.name,
        kind=call.kind,
        status="pending",
        content=to_diffs(call.diffs),
        locations=_locations(call.locations),
        raw_input=call.raw_input,
        meta=call_meta(call),
    )


def question_of(call: CallProposed) -> v2.ToolCallUpdate:
    """Return the card for a permission question, with the diffs or the full text to be approved."""
    card = card_of(call)
    text = approval_text(call)
    shown: list[v2.ToolCallContent] = [v2.Content(content=_text(fenced(text)))] if text else []
    return structs.replace(card, content=[*to_diffs(call.diffs), *shown], meta=call_meta(call, is_asked=True))


def to_diffs(diffs: tuple[Diff, ...]) -> list[v2.ToolCallContent]:
    """Return the changes of a call as one change set with a patch; empty if there are no changes."""
    if not diffs:
        return []
    changes = [_change(diff) for diff in diffs]
    return [v2.Diff(changes=changes, patch=v2.DiffPatch(format="git_patch", text=git_patch(diffs)))]


def _change(diff: Diff) -> v2.DiffChange:
    if diff.is_deleted:
        return v2.DiffChangeDelete(path=diff.path, file_type="text")
    if diff.old_text is None:
        return v2.DiffChangeAdd(path=diff.path, file_type="text")
    return v2.DiffChangeModify(path=diff.path, file_type="text")


def idle_by(code: int, message: str, data: object) -> Update:
    """Return the idle state of a session whose turn failed."""
    error = v2.Error(code=code, message=message, data=data)
    return v2.SessionUpdateIdleStateUpdate(stop_reason="error", error=error)


def _state(event: TurnStarted | TurnEnded | PermissionAsked | PermissionAnswered) -> Update:
    match event:
        case TurnStarted() | PermissionAnswered():
            return v2.SessionUpdateRunningStateUpdate()
        case PermissionAsked():
            return v2.SessionUpdateRequiresActionStateUpdate()
        case TurnEnded():
            if stop_reason := STOP_REASONS.get(event.reason):
                return v2.SessionUpdateIdleStateUpdate(stop_reason=stop_reason)
            return idle_by(failure_code(event), event.sentence, {"code": event.error_code})


def _compaction(
    event: CompactionStarted | SummarySaid | HistoryCompacted | CompactionFailed,
) -> tuple[Update, ...]:
    """Return the updates for a compaction; one that was requested also changes the session's state."""
    named = event.compaction_id
    match event:
        case CompactionStarted():
            begun = v2.CompactionUpdate(
                compaction_id=named, status="in_progress", summary=None if event.again else UNSET
            )
            is_a_turn = event.why == "asked" and not event.again
            return (v2.SessionUpdateRunningStateUpdate(), begun) if is_a_turn else (begun,)
        case SummarySaid():
            return (v2.CompactionSummaryChunk(compaction_id=named, content=_text(event.text)),)
        case HistoryCompacted():
            whole: list[v2.ContentBlock] | v2.UnsetType = [_text(event.summary)] if event.summary else UNSET
            return (v2.CompactionUpdate(compaction_id=named, status="completed", summary=whole),)
        case CompactionFailed():
            error = event.error if event.status == "failed" else UNSET
            return (v2.CompactionUpdate(compaction_id=named, status=event.status, summary=None, error=error),)


def _on_card(card: v2.ToolCallUpdate) -> Update:
    return v2.SessionUpdateToolCallUpdate(**structs.asdict(card))


def command_of(card: CallProposed | None) -> tuple[str, str] | None:
    """Return the shell command of a call and its folder, or None for other calls."""
    match card:
        case CallProposed(kind="execute", raw_input={"command": str(line), "cwd": str(cwd)}):
            return line, cwd
        case CallProposed(kind="execute", raw_input={"command": str(line)}):
            return line, ""
        case _:
            return None


def _locations(locations: tuple[Location, ...]) -> list[v2.ToolCallLocation]:
    return [
        v2.ToolCallLocation(path=location.path, line=UNSET if location.line is None else location.line)
        for location in locations
    ]


def _text(text: str) -> v2.TextContent:
    return v2.TextContent(text=text)


def _output(text: str) -> v2.Content:
    return v2.Content(content=_text(fenced(text)))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode()
