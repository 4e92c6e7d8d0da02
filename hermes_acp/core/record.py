"""What a session's events amount to.

Knows: how to fold events into the history a model is shown, and into mode, title, grants and the frozen prompt.
Does not know: where events come from. Live and after a restart the same fold runs over the same events, so both
agree by construction.

The laws of a history it keeps: a call has exactly one outcome, outcomes follow the step that made the calls, and a
turn that failed before the model said anything leaves no trace in what the model sees next.
"""

from hermes_acp.core.events import (
    ArchiveChanged,
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    Grant,
    InstructionsGiven,
    Mode,
    ModeChanged,
    NoteAdded,
    Options,
    OptionsChanged,
    PermissionAnswered,
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
from hermes_acp.core.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)

INTERRUPTED = "[The turn was interrupted here.]"
NOT_STARTED = "The process ended before this call was started: nothing happened. Make it again if it is still wanted."
REPEATABLE = (
    "The process ended while this call was running, so its outcome is lost. Making it again does no harm."
)
IN_DOUBT = (
    "The process ended while this call was running. It was started and may have had its effect, all or a part of it: "
    "look at the present state before doing it again."
)


class Record:
    """One session as its events so far tell it."""

    def __init__(self) -> None:
        self.session_id = ""
        self.cwd = ""
        self.created_at = 0.0
        self.roots: tuple[str, ...] = ()
        self.mode: Mode = "ask"
        self.mode_told: Mode = "ask"
        self.options = Options()
        self.title = ""
        self.is_archived = False
        self.instructions: InstructionsGiven | None = None
        self.layers: tuple[str, ...] = ()
        self.grants: tuple[Grant, ...] = ()
        self.messages: list[Message] = []
        self.open_turn = ""
        self.usage = UsageChanged(used_tokens=0, window_tokens=0)
        self.used_at: dict[str, Usage] = {}
        self._open_calls: dict[str, ToolCall] = {}
        self.last_end: TurnEnded | None = None
        self._proposed: set[str] = set()
        self._started: dict[str, CallStarted] = {}
        self._unanswered: list[Message] = []
        self._call_ids: set[str] = set()
        self._words: list[str] = []
        self._turn_began_at = 0
        self._mode_told_before: Mode = "ask"

    def apply(self, event: Event) -> None:
        """Take one event into account."""
        match event:
            case TextSaid():
                self._words.append(event.text)
            case UserSaid():
                self.messages.append(UserMessage(event.parts))
            case NoteAdded():
                self.messages.append(UserMessage((TextPart(event.text),)))
                self.mode_told = event.mode or self.mode_told
            case StepEnded() | StepFailed():
                self._close_step(event)
            case CallProposed():
                self._proposed.add(event.call_id)
            case CallStarted():
                self._started[event.call_id] = event
            case CallEnded():
                self._open_calls.pop(event.call_id, None)
                self._started.pop(event.call_id, None)
                failed = event.status != "completed"
                self.messages.append(ToolMessage(event.call_id, event.name, event.text, is_error=failed))
            case TurnStarted():
                self._open_turn(event)
            case TurnEnded():
                self._close_turn(event)
            case PermissionAnswered():
                fresh = {(grant.kind, grant.subject) for grant in event.grants}
                kept = tuple(grant for grant in self.grants if (grant.kind, grant.subject) not in fresh)
                self.grants = kept + event.grants
            case SessionOpened():
                self.session_id, self.cwd, self.roots = event.session_id, event.cwd, event.roots
                self.created_at = event.created_at
            case ModeChanged():
                self.mode = event.mode
            case OptionsChanged():
                self.options = event.options
            case UsageChanged():
                self.usage = event
            case _:
                self._note(event)

    def _note(self, event: Event) -> None:
        """Take what says something of the session as a whole."""
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
                self.layers = event.layers
            case _:
                pass

    def _close_step(self, event: StepEnded | StepFailed) -> None:
        text = "".join(self._words)
        self._words.clear()
        if isinstance(event, StepEnded):
            if event.provider:
                self.used_at[event.provider] = self.used_at.get(event.provider, Usage()) + event.usage
            self.messages.append(AssistantMessage(text, event.thoughts, event.tool_calls))
            self._open_calls = {call.id: call for call in event.tool_calls}
            self._call_ids.update(self._open_calls)
        elif text and not event.retried:
            self.messages.append(AssistantMessage(f"{text}\n{INTERRUPTED}"))

    def _open_turn(self, event: TurnStarted) -> None:
        self.open_turn = event.turn_id
        self._turn_began_at = len(self.messages)
        self._mode_told_before = self.mode_told
        if event.goes_on:
            self.messages += self._unanswered
        self._unanswered = []

    def _close_turn(self, event: TurnEnded) -> None:
        self.open_turn = ""
        self.last_end = event
        if self._words:
            self._close_step(StepFailed(event.turn_id, event.reason, retried=False))
        said = self.messages[self._turn_began_at :]
        if not any(isinstance(message, AssistantMessage) for message in said):
            del self.messages[self._turn_began_at :]
            self._unanswered = [message for message in said if isinstance(message, UserMessage)]
            self.mode_told = self._mode_told_before

    def opening(self) -> SessionOpened:
        """Give the event the session began with."""
        return SessionOpened(self.session_id, self.cwd, self.roots, self.created_at)

    def open_calls(self) -> tuple[ToolCall, ...]:
        """List the calls that have no outcome yet, in their order."""
        return tuple(self._open_calls.values())

    def knows_call(self, call_id: str) -> bool:
        """Tell whether an id was used by a call of this session."""
        return call_id in self._call_ids

    def was_proposed(self, call_id: str) -> bool:
        """Tell whether a call was shown as understood."""
        return call_id in self._proposed

    @property
    def can_go_on(self) -> bool:
        """Tell whether the last turn stopped before it was done, so that it can be taken up again."""
        has_begun = bool(self.messages or self._unanswered)
        return bool(has_begun and self.last_end and self.last_end.reason != "done" and not self.open_turn)

    def _lost_outcome(self, call_id: str) -> str:
        started = self._started.get(call_id)
        if started is None:
            return NOT_STARTED
        return REPEATABLE if started.is_repeatable else IN_DOUBT

    def loose_ends(self) -> list[Event]:
        """List the events that lawfully close what a killed process left open; apply and record them in order."""
        ends: list[Event] = []
        for call in self._open_calls.values():
            if call.id not in self._proposed:
                ends.append(CallProposed(call.id, call.name, call.name, "other"))
            ends.append(CallEnded(call.id, call.name, "cancelled", self._lost_outcome(call.id)))
        if self.open_turn:
            ends.append(
                TurnEnded(
                    self.open_turn,
                    "cancelled",
                    "The agent's process ended during this turn; everything up to that point is kept.",
                    "interrupted",
                )
            )
        return ends
