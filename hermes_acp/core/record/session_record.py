"""Derive a session's state from its events: history, mode, title, grants and the frozen prompt.

The same code processes the same events live and after a restart, so both states agree by construction. A call has
exactly one outcome, and outcomes follow the step that made the calls. If a turn failed before the model said anything,
only its prompt remains (`core.record.unanswered_prompts`).
"""

from collections.abc import Iterable, Mapping

from msgspec import structs

from hermes_acp.core.event_types import (
    Grant,
    GrantsRevoked,
    Mode,
    Options,
    SessionImported,
    Surface,
    ToolsOffered,
)
from hermes_acp.core.events import (
    ArchiveChanged,
    CallEnded,
    CallProposed,
    CallStarted,
    ChildChanged,
    CompactionFailed,
    CompactionStarted,
    Event,
    HistoryCompacted,
    InstructionsGiven,
    ModeChanged,
    NoteAdded,
    OptionsChanged,
    PermissionAnswered,
    PermissionAsked,
    PromptFrozen,
    RootsChanged,
    SessionOpened,
    StepEnded,
    StepFailed,
    TextSaid,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    UserSaid,
)
from hermes_acp.core.flow_labels import IMPORTED, Exposure, SourcesRead
from hermes_acp.core.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolMessage,
    Usage,
    UserMessage,
)
from hermes_acp.core.record.child_outcomes import ChildOutcome
from hermes_acp.core.record.compacted_history import apply_compaction, shifted_position
from hermes_acp.core.record.edit_reviews import REVIEWED, Reviews
from hermes_acp.core.record.file_versions import attached_versions
from hermes_acp.core.record.interrupted_calls import calls_closed, waits_for_user
from hermes_acp.core.record.open_calls import OpenCalls
from hermes_acp.core.record.sent_history import SentHistory
from hermes_acp.core.record.titles import title_from_prompt
from hermes_acp.core.record.unanswered_prompts import with_outcome_note

INTERRUPTED = "[The turn was interrupted here.]"
CUT_OFF = "interrupted"
"""The error code of a turn whose process ended."""
ASKED_AGAIN = "The agent's process ended while a question was open. It is asked again."
LOST = "The agent's process ended during this turn; everything up to that point is kept."
UNFINISHED = "The agent's process ended while the conversation was being shortened; it is unchanged."


class Record:
    """The state of a session, derived from its events so far."""

    def __init__(self) -> None:
        self.session_id = ""
        self.cwd = ""
        self.parent_id = ""
        self.surface: Surface = ""
        self.created_at = 0.0
        self.roots: tuple[str, ...] = ()
        self.mode: Mode = "ask"
        self.mode_told: Mode = "ask"
        self.options = Options()
        self.title = ""
        self.is_archived = False
        self.instructions: InstructionsGiven | None = None
        self.layers: tuple[str, ...] = ()
        self.frozen_at = 0.0
        """When the assembly of the prompt started, in seconds since the epoch, or 0.0 if that was not recorded."""
        self.tools_digest = ""
        """The digest of the tools in the last request, or empty if that was not recorded."""
        self.context_answers: dict[str, bool] = {}
        """Whether new or changed context files may be used, by the SHA-256 of their content."""
        self.grants: tuple[Grant, ...] = ()
        self.messages: list[Message] = []
        self.sent = SentHistory()
        self.open_turn = ""
        self.usage = UsageChanged(used_tokens=0, window_tokens=0)
        self.measured_at = 0
        """How many messages `usage` covers; later ones have not been counted yet."""
        self.open_compaction = ""
        self.used_at: dict[str, Usage] = {}
        self.seen: dict[str, str] = {}
        """The file contents that the model knows: a digest for each path."""
        self.reviews = Reviews()
        self.exposure = Exposure()
        self._informed: dict[str, tuple[Grant, ...]] = {}
        self.calls = OpenCalls()
        self.last_end: TurnEnded | None = None
        self._is_of_run = False
        self._unanswered: list[UserMessage] = []
        self._words: list[str] = []
        self._turn_began_at = 0
        self._was_answered = False
        self._mode_told_before: Mode = "ask"

    def apply(self, event: Event) -> None:
        """Process one event."""
        if isinstance(event, REVIEWED):
            self.reviews.apply(event)
        match event:
            case TextSaid():
                self._words.append(event.text)
            case UserSaid():
                self.messages.append(UserMessage(event.parts))
                for version in attached_versions(event.parts):
                    self.seen.setdefault(version.path, version.digest)
            case NoteAdded():
                self.messages.append(UserMessage((TextPart(event.text),), "program"))
                self.mode_told = event.mode or self.mode_told
                self._was_answered |= event.is_outcome
            case StepEnded() | StepFailed():
                self._close_step(event)
            case CallProposed():
                self.calls.propose(event)
            case CallStarted():
                self.calls.start(event)
            case CallEnded():
                self._end_call(event)
            case TurnStarted():
                self._open_turn(event)
            case TurnEnded():
                self._close_turn(event)
            case PermissionAsked():
                self.calls.asked.add(event.call_id)
            case PermissionAnswered():
                self.calls.asked.discard(event.call_id)
                fresh = {(grant.kind, grant.subject) for grant in event.grants}
                kept = tuple(grant for grant in self.grants if (grant.kind, grant.subject) not in fresh)
                self.grants = kept + event.grants
                self._informed[event.call_id] = event.grants
                if event.answer not in ("cancelled", "unavailable"):
                    is_used = event.answer.startswith("allow")
                    self.context_answers.update(dict.fromkeys(event.contents, is_used))
            case SessionOpened():
                self.session_id, self.cwd, self.roots = event.session_id, event.cwd, event.roots
                self.created_at, self.parent_id = event.created_at, event.parent_id
                self.surface = event.surface
            case ModeChanged():
                self.mode = event.mode
            case OptionsChanged():
                self.options = event.options
            case UsageChanged():
                self.usage, self.measured_at = event, len(self.messages)
            case CompactionStarted() | HistoryCompacted() | CompactionFailed():
                self._compact(event)
            case _:
                self._note(event)

    def _note(self, event: Event) -> None:
        """Process an event that concerns the session as a whole."""
        match event:
            case TitleChanged():
                self.title = event.title
            case ArchiveChanged():
                self.is_archived = event.is_archived
            case RootsChanged():
                self.roots = tuple(dict.fromkeys((self.cwd, *event.more_roots)))
            case InstructionsGiven():
                self.instructions = event
            case PromptFrozen():
                self.layers, self.frozen_at = event.layers, event.began_at
            case ToolsOffered():
                self.tools_digest = event.digest
            case SourcesRead():
                self._read(event)
            case SessionImported():
                self._keep_conversation_only(event.cwd)
            case GrantsRevoked():
                self._revoke(event)
            case ChildChanged():
                self.calls.change_child(event)
                if event.cost_usd:
                    cost_usd = (self.usage.cost_usd or 0.0) + event.cost_usd
                    self.usage = structs.replace(self.usage, cost_usd=cost_usd)
            case _:
                pass

    def _keep_conversation_only(self, cwd: str) -> None:
        """Reset everything in an imported record that could be used to act here."""
        self.cwd, self.roots = cwd, (cwd,)
        self.mode, self.mode_told, self.options = "ask", "ask", Options()
        self.instructions, self.layers, self.frozen_at, self.tools_digest = None, (), 0.0, ""
        self.context_answers, self.grants, self.seen = {}, (), {}
        self._informed, self.calls, self.reviews = {}, OpenCalls(), Reviews()
        self.exposure = self.exposure.including((IMPORTED,))

    def _read(self, event: SourcesRead) -> None:
        """Add sources; this invalidates earlier answers, except the one about the very call that reads the sources."""
        if self.exposure.missing(event.sources):
            self.exposure = self.exposure.including(event.sources)
            kept = self._informed.get(event.call_id)
            self._informed = {event.call_id: kept} if kept else {}

    def _revoke(self, event: GrantsRevoked) -> None:
        gone = {(grant.kind, grant.subject) for grant in event.grants}
        self.grants = tuple(each for each in self.grants if (each.kind, each.subject) not in gone)
        self._informed = {
            call_id: tuple(each for each in grants if (each.kind, each.subject) not in gone)
            for call_id, grants in self._informed.items()
        }

    @property
    def informed_grants(self) -> tuple[Grant, ...]:
        """The "always" answers given after the latest source was read."""
        return tuple(grant for grants in self._informed.values() for grant in grants)

    def _compact(self, event: CompactionStarted | HistoryCompacted | CompactionFailed) -> None:
        """Process a compaction event: only the end of a compaction changes the history."""
        self.open_compaction = event.compaction_id if isinstance(event, CompactionStarted) else ""
        if isinstance(event, HistoryCompacted):
            self.messages = apply_compaction(self.messages, event)
            self._turn_began_at = shifted_position(self._turn_began_at, event)
            self.usage = structs.replace(self.usage, used_tokens=event.tokens_after)
            self.measured_at = len(self.messages)
            self._count(event.provider, event.usage)

    def _count(self, provider: str, usage: Usage) -> None:
        if provider:
            self.used_at[provider] = self.used_at.get(provider, Usage()) + usage

    def _end_call(self, event: CallEnded) -> None:
        """Insert a call's outcome at its position: calls end in any order, but the history keeps the model's order."""
        self.calls.end(event.call_id)
        self.seen.update({version.path: version.digest for version in event.seen})
        if event.within:
            return
        failed = event.status != "completed"
        text = f"{event.text} {event.advice}" if event.advice else event.text
        outcome = ToolMessage(event.call_id, event.name, text, is_error=failed, parts=event.parts)
        self.messages.insert(self._outcome_position(event.call_id), outcome)
        self._was_answered = True

    def _outcome_position(self, call_id: str) -> int:
        """Return where an outcome belongs: after its step and the outcomes of earlier calls, but before later notes."""
        before = self.calls.ended_before(call_id)
        for position in range(len(self.messages) - 1, -1, -1):
            message = self.messages[position]
            if isinstance(message, AssistantMessage) and message.tool_calls:
                return len(self.messages) if before is None else position + 1 + before
        return len(self.messages)

    def _say(self, message: AssistantMessage) -> None:
        self.messages.append(message)
        self._was_answered = True

    def _close_step(self, event: StepEnded | StepFailed) -> None:
        text = "".join(self._words)
        self._words.clear()
        if isinstance(event, StepEnded):
            self._count(event.provider, event.usage)
            self._say(AssistantMessage(text, event.thoughts, event.tool_calls))
            self.calls.begin_step(event.tool_calls)
        elif text and not event.retried:
            self._say(AssistantMessage(f"{text}\n{INTERRUPTED}"))

    def _open_turn(self, event: TurnStarted) -> None:
        self.open_turn = event.turn_id
        self._is_of_run = bool(event.run_id)
        self._turn_began_at = len(self.messages)
        self._was_answered = False
        self._mode_told_before = self.mode_told
        if self._unanswered:
            self.messages += (
                self._unanswered if event.goes_on else with_outcome_note(self._unanswered, self.last_end)
            )
        self._unanswered = []

    def _close_turn(self, event: TurnEnded) -> None:
        self.open_turn = ""
        self.last_end = event
        if event.reason == "input_required":
            self.calls.rest()
        if self._words:
            self._close_step(StepFailed(event.turn_id, event.reason, retried=False))
        self.reviews.end_turn(was_answered=self._was_answered)
        if not self._was_answered:
            said = self.messages[self._turn_began_at :]
            del self.messages[self._turn_began_at :]
            self.measured_at = min(self.measured_at, len(self.messages))
            self._unanswered = [
                each for each in said if isinstance(each, UserMessage) and each.origin == "user"
            ]
            self.mode_told = self._mode_told_before

    def opening(self) -> SessionOpened:
        """Return the session's first event."""
        return SessionOpened(
            self.session_id, self.cwd, self.roots, self.created_at, self.parent_id, self.surface
        )

    @property
    def can_resume(self) -> bool:
        """Whether the last turn stopped early, so that it can be resumed."""
        has_begun = bool(self.messages or self._unanswered)
        return bool(has_begun and self.last_end and self.last_end.reason != "done" and not self.open_turn)

    @property
    def waits_for_client(self) -> bool:
        """Whether the last turn is suspended until a client of the session answers its question. Runs ask elsewhere."""
        rests = self.last_end is not None and self.last_end.reason == "input_required"
        return rests and not self._is_of_run and not self.open_turn and bool(self.calls.suspended())

    @property
    def was_interrupted(self) -> bool:
        """Whether the process ended before the last prompt was answered."""
        return bool(self._unanswered and self.last_end and self.last_end.error_code == CUT_OFF)

    def closing_events(
        self, accounts: Mapping[str, ChildOutcome] | None = None, *, keeps_questions: bool = False
    ) -> list[Event]:
        """List the events that close whatever a killed process left open; apply and record them in order.

        `accounts` contains the outcomes from the records of child agents, by child ID. With `keeps_questions`, a turn
        with an open question is suspended and asks again when it is resumed. Without it, questions that only a client
        of the session could be asked again are lost as well.
        """
        rests = keeps_questions and waits_for_user(self.calls)
        ends: list[Event] = []
        if self.open_compaction:
            ends.append(CompactionFailed(self.open_compaction, "cancelled", UNFINISHED))
        keeps_suspended = keeps_questions or not self.waits_for_client
        ends += calls_closed(
            self.calls, accounts or {}, LOST, keeps_questions=rests, keeps_suspended=keeps_suspended
        )
        if self.open_turn:
            if not self.title and (title := title_from_prompt(self.messages)):
                ends.append(TitleChanged(title))
            reason, sentence = ("input_required", ASKED_AGAIN) if rests else ("cancelled", LOST)
            ends.append(TurnEnded(self.open_turn, reason, sentence, CUT_OFF))
        return ends


def fold_events(events: Iterable[Event]) -> Record:
    """Return the state derived from a session's events."""
    record = Record()
    for event in events:
        record.apply(event)
    return record
