"""Show the events of a chat in order."""

import anyio

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import AgentLink
from hermes_acp.frontends.chat.agent.chat_events import (
    ChatEvent,
    EventQueue,
    PromptSent,
    QueueMarker,
    Remark,
    SessionLeft,
    SessionOpened,
    TurnFinished,
    UpdateReceived,
)
from hermes_acp.frontends.chat.agent.open_session_status import SessionStatus
from hermes_acp.frontends.chat.agent.turns_of_others import turn_ended, turn_started
from hermes_acp.frontends.chat.prompt_queue import PromptQueue
from hermes_acp.frontends.chat.rendering.queue_rows import queue_rows
from hermes_acp.frontends.chat.rendering.session_renderer import SessionRenderer
from hermes_acp.frontends.chat.rendering.terminal_text import clip
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.screen import Screen


class EventPresenter:
    """Shows events on one screen."""

    def __init__(
        self,
        events: EventQueue,
        layout: TranscriptLayout,
        session_renderer: SessionRenderer,
        session_status: SessionStatus,
        link: AgentLink,
        prompts: PromptQueue,
        *,
        is_sequential: bool,
    ) -> None:
        """Create a presenter; if `is_sequential`, a prompt is read only after the previous one has been answered."""
        self._events = events
        self._layout = layout
        self._session_renderer = session_renderer
        self._session_status = session_status
        self._link = link
        self._prompts = prompts
        self._is_sequential = is_sequential
        self._screen: Screen | None = None
        self._steering: list[str] = []
        """Prompts that were sent to steer the turn but that it has not read yet."""
        self._change = anyio.Event()
        self.hint = ""
        self.recording_state = ""
        """The message about the microphone while it is in use; it takes precedence over every hint."""
        self.has_failed = False

    @property
    def is_busy(self) -> bool:
        """Whether any prompt is unanswered."""
        return self._prompts.is_busy

    @property
    def can_steer(self) -> bool:
        """Whether a prompt sent now would steer the running turn."""
        return self._is_steering and self._prompts.sent > 0 and not self._prompts.is_stopping

    @property
    def unused_prompts(self) -> tuple[str, ...]:
        """The prompts that no turn has used yet."""
        return (*self._steering, *self._prompts.waiting)

    @property
    def must_wait(self) -> bool:
        """Whether reading the next prompt must wait."""
        return self._is_sequential and self.is_busy

    def attach_screen(self, screen: Screen) -> None:
        """Set the screen to show events on."""
        self._screen = screen

    async def changed(self) -> None:
        """Wait until `notify_change` is called."""
        await self._change.wait()

    def notify_change(self) -> None:
        """Wake everyone waiting in `changed`."""
        self._change.set()
        self._change = anyio.Event()

    async def run(self) -> None:
        """Show events until cancelled."""
        while True:
            events = await self._events.take()
            text = "".join(self._render_event(each) for each in events)
            if text:
                await self._attached_screen.write(text)
            for each in events:
                if isinstance(each, QueueMarker):
                    each.reached.set()
            self._attached_screen.refresh()
            self.notify_change()

    def live(self, rows: int, columns: int) -> str:
        """Draw the live part, with the waiting prompts below it."""
        drawn = queue_rows(self._steering, self._prompts.waiting, rows, columns)
        waiting = [self._layout.transient(row) for row in drawn]
        moving = self._session_renderer.live(max(1, rows - len(waiting)), columns)
        if not moving and self.is_busy:
            moving = self._layout.transient(self._session_renderer.working_line())
        return "\n".join(part for part in (moving, *waiting) if part)

    def placeholder(self, columns: int) -> str:
        """Return the hint for an empty input line."""
        if not self.is_busy:
            return clip(messages.IDLE_PLACEHOLDER, columns)
        busy = messages.STEERING_PLACEHOLDER if self._is_steering else messages.QUEUEING_PLACEHOLDER
        return clip(busy, columns)

    def status(self, columns: int) -> str:
        """Return the status line."""
        if shown := self.recording_state or self.hint:
            return clip(shown, max(1, columns - 1))
        if self._link.current is None:
            return messages.RESTARTING if self._link.openings else messages.STARTING
        return self._session_status.line(columns)

    @property
    def _attached_screen(self) -> Screen:
        assert self._screen is not None
        return self._screen

    @property
    def _is_steering(self) -> bool:
        return self._session_status.current("during_turn") == "steer"

    def _render_event(self, event: ChatEvent) -> str:
        match event:
            case UpdateReceived():
                return self._render_update(event)
            case PromptSent():
                return self._render_prompt(event)
            case TurnFinished():
                return self._render_turn_end(event)
            case SessionOpened():
                return self._render_opening(event)
            case Remark(text=text, style=style):
                return self._session_renderer.settle() + self._layout.remark(text, style)
            case SessionLeft():
                self._link.marks.clear()
                self._prompts.others_started("")
                return ""
            case QueueMarker():
                return ""

    def _render_prompt(self, event: PromptSent) -> str:
        """Show a prompt that is being sent; one that steers is only a row below until the turn reads it."""
        self._link.marks.sent(event.prompt)
        if event.steers:
            self._steering.append(event.prompt)
            return ""
        if self._is_sequential and self._attached_screen.can_ask:
            return ""
        return self._layout.prompt(event.prompt)

    def _render_update(self, event: UpdateReceived) -> str:
        steered = self._render_steered(self._link.marks.take(event.update))
        update = self._link.seen.fresh(event.update) if event.is_replay else event.update
        if update is None:
            return steered
        self._link.seen.note(update)
        self._session_status.take(update)
        if turn_id := turn_started(update):
            self._prompts.others_started(turn_id)
        if not event.is_replay and self._prompts.others_ended(turn_ended(update)):
            self.hint = ""
            rest = self._session_renderer.end_turn()
            return (
                steered + rest + self._session_renderer.unasked_remark(is_shown=self._link.supports_reviews)
            )
        return steered + self._session_renderer.take(update)

    def _render_steered(self, prompt: str) -> str:
        """Show a prompt at the point where the turn read it."""
        if prompt not in self._steering:
            return ""
        self._steering.remove(prompt)
        return self._session_renderer.settle() + self._layout.prompt(prompt)

    def _render_opening(self, event: SessionOpened) -> str:
        if event.was_lost:
            return ""
        rest = (
            self._session_renderer.settle()
            if self._prompts.runs_others
            else self._session_renderer.end_turn()
        )
        self._session_renderer.unasked_remark(is_shown=False)
        if not event.has_past:
            self._session_status.begin()
            return rest
        title = self._session_status.title or event.session_id
        return rest + self._layout.remark(messages.resumed(title))

    def _render_turn_end(self, event: TurnFinished) -> str:
        was_recorded = self._link.marks.finished(event.prompt)
        is_stopped = event.stop_reason == "cancelled"
        is_unread = event.was_withheld or (is_stopped and not was_recorded and not event.is_command)
        if is_unread and event.prompt in self._steering:
            self._steering.remove(event.prompt)
        if unread := self._prompts.ended(event.prompt if is_unread else ""):
            self._attached_screen.put_back("\n".join(unread))
        text = self._render_steered(event.prompt) + self._session_renderer.end_turn()
        if not self._prompts.sent:
            self.hint = ""
        elif is_stopped:
            return text
        if event.error is not None:
            self.has_failed = True
            text += self._layout.remark(event.error.sentence, "red")
        elif not event.stop_reason:
            text += self._layout.remark(messages.RESTARTED, "yellow")
        elif event.stop_reason in messages.STOP_REASONS:
            text += self._layout.remark(messages.STOP_REASONS[event.stop_reason])
        return text + self._session_renderer.unasked_remark(is_shown=self._link.supports_reviews)
