"""Show the events of a chat, in order, each once."""

from collections import Counter, deque
from typing import Final

import anyio
from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import AgentLink
from hermes_acp.frontends.chat.agent.chat_events import (
    ChatEvent,
    EventQueue,
    QueueMarker,
    Remark,
    SessionLeft,
    SessionOpened,
    TurnFinished,
    UpdateReceived,
)
from hermes_acp.frontends.chat.agent.open_session_status import SessionStatus
from hermes_acp.frontends.chat.rendering.session_renderer import SessionRenderer
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.screen import Screen
from hermes_protocol import v1

MESSAGE_CHUNKS: Final = v1.AgentMessageChunk | v1.AgentThoughtChunk


class EventPresenter:
    """Shows events on one screen."""

    def __init__(
        self,
        events: EventQueue,
        layout: TranscriptLayout,
        session_renderer: SessionRenderer,
        session_status: SessionStatus,
        link: AgentLink,
        *,
        is_sequential: bool,
    ) -> None:
        """Create a presenter; if `is_sequential`, a prompt is read only after the one before it was answered."""
        self._events = events
        self._layout = layout
        self._session_renderer = session_renderer
        self._session_status = session_status
        self._link = link
        self._is_sequential = is_sequential
        self._screen: Screen | None = None
        self._running = 0
        self.queued_prompts: deque[str] = deque()
        self._taken_back: list[str] = []
        self.withdrawals: Counter[str] = Counter()
        """How often a prompt of a text was taken back so far."""
        self._change = anyio.Event()
        self.hint = ""
        self.has_failed = False

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is unanswered."""
        return self._running > 0

    @property
    def waiting(self) -> int:
        """Number of unanswered prompts, at least 1."""
        return max(1, self._running)

    @property
    def must_wait(self) -> bool:
        """Whether no prompt may be read now."""
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

    async def begin(self, prompt: str) -> None:
        """Note a prompt that is being sent; one that waits is shown once its turn begins."""
        self._running += 1
        self._link.marks.sent(prompt)
        if self._running > 1 and not self._is_sequential:
            self.queued_prompts.append(prompt)
        elif not self._is_sequential or not self._attached_screen.can_ask:
            await self._attached_screen.write(self._layout.prompt(prompt))

    def take_back_queued(self) -> list[str]:
        """Return the prompts that no turn has used, which are no longer shown as waiting."""
        prompts = list(self.queued_prompts)
        self.queued_prompts.clear()
        self._taken_back.extend(prompts)
        self.withdrawals.update(prompts)
        return prompts

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
        """Draw the live part, with the waiting prompts below."""
        fate = messages.STEERING if self._is_steering else messages.QUEUED
        waiting = [
            self._layout.transient(
                Text(f"❯ {clip(sanitize_line(prompt), columns - 16)}  ({fate})", style="dim")
            )
            for prompt in self.queued_prompts
        ]
        moving = self._session_renderer.live(max(1, rows - len(waiting)), columns)
        if not moving and self.is_busy:
            moving = self._layout.transient(self._session_renderer.working_line())
        return "\n".join(part for part in (moving, *waiting) if part)

    def placeholder(self, columns: int) -> str:
        """Return the hint in the empty input line."""
        if not self.is_busy:
            return clip(messages.IDLE_PLACEHOLDER, columns)
        busy = messages.STEERING_PLACEHOLDER if self._is_steering else messages.QUEUEING_PLACEHOLDER
        return clip(busy, columns)

    def status(self, columns: int) -> str:
        """Return the status line."""
        if self.hint:
            return clip(self.hint, max(1, columns - 1))
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
            case TurnFinished():
                return self._render_turn_end(event)
            case SessionOpened():
                return self._render_opening(event)
            case Remark(text=text, style=style):
                return self._session_renderer.settle() + self._layout.remark(text, style)
            case SessionLeft():
                self._link.marks.clear()
                return ""
            case QueueMarker():
                return ""

    def _render_update(self, event: UpdateReceived) -> str:
        self._link.marks.take(event.update)
        update = self._link.seen.fresh(event.update) if event.is_replay else event.update
        if update is None:
            return ""
        self._link.seen.note(update)
        self._session_status.take(update)
        steered = (
            "" if isinstance(update, MESSAGE_CHUNKS) or not self._is_steering else self._show_queued_prompts()
        )
        return steered + self._session_renderer.take(update)

    def _show_queued_prompts(self) -> str:
        said = [self.queued_prompts.popleft() for _ in range(len(self.queued_prompts))]
        return self._session_renderer.settle() + "".join(map(self._layout.prompt, said)) if said else ""

    def _render_opening(self, event: SessionOpened) -> str:
        if event.was_lost:
            return ""
        rest = self._session_renderer.end_turn()
        self._session_renderer.take_unasked_count()
        if not event.has_past:
            self._session_status.begin()
            return rest
        title = self._session_status.title or event.session_id
        return rest + self._layout.remark(messages.resumed(title))

    def _render_turn_end(self, event: TurnFinished) -> str:
        self._running -= 1
        self._link.marks.finished(event.prompt)
        if event.prompt in self._taken_back:
            self._taken_back.remove(event.prompt)
            return ""
        text = ""
        if event.prompt in self.queued_prompts:  # the finished turn has used it
            self.queued_prompts.remove(event.prompt)
            text += self._layout.prompt(event.prompt)
        text += self._session_renderer.end_turn()
        self.hint = ""
        if event.error is not None:
            self.has_failed = True
            text += self._layout.remark(event.error.sentence, "red")
        elif not event.stop_reason:
            text += self._layout.remark(messages.RESTARTED, "yellow")
        elif event.stop_reason in messages.STOP_REASONS:
            text += self._layout.remark(messages.STOP_REASONS[event.stop_reason])
        if (count := self._session_renderer.take_unasked_count()) and self._link.supports_reviews:
            text += self._layout.remark(messages.changed_without_asking(count))
        if self.queued_prompts:
            text += self._layout.prompt(self.queued_prompts.popleft())
        return text
