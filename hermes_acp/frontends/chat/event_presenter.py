"""Tells the news of a chat, in their order, each once.

Knows: when a turn runs, which prompts wait, what a stop reason means to a person.
Does not know: who reads the terminal.
"""

from collections import deque
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
    SessionOpened,
    TurnFinished,
    UpdateReceived,
)
from hermes_acp.frontends.chat.agent.open_session_status import SessionStatus
from hermes_acp.frontends.chat.rendering.narrator import Narrator
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.screen import Screen
from hermes_protocol import v1

MESSAGE_CHUNKS: Final = v1.AgentMessageChunk | v1.AgentThoughtChunk


class EventPresenter:
    """Tells news on one screen."""

    def __init__(
        self,
        events: EventQueue,
        layout: TranscriptLayout,
        narrator: Narrator,
        session_status: SessionStatus,
        link: AgentLink,
        *,
        is_patient: bool,
    ) -> None:
        """`is_patient` is for a screen on which a prompt waits until the one before it is answered."""
        self._events = events
        self._layout = layout
        self._narrator = narrator
        self._session_status = session_status
        self._link = link
        self._is_patient = is_patient
        self._screen: Screen | None = None
        self._running = 0
        self._unsaid: deque[str] = deque()
        self._news = anyio.Event()
        self.hint = ""
        self.has_failed = False

    @property
    def is_busy(self) -> bool:
        """Whether a prompt has no answer yet."""
        return self._running > 0

    @property
    def waiting(self) -> int:
        """How many prompts have no answer yet."""
        return max(1, self._running)

    @property
    def must_wait(self) -> bool:
        """Whether nothing may be read now."""
        return self._is_patient and self.is_busy

    def speak_on(self, screen: Screen) -> None:
        """Take the screen to tell on."""
        self._screen = screen

    async def stirred(self) -> None:
        """Wait until something may have changed."""
        await self._news.wait()

    def stir(self) -> None:
        """Have whoever waits look again."""
        self._news.set()
        self._news = anyio.Event()

    async def begin(self, prompt: str) -> None:
        """Take a prompt that is being sent; one that waits is shown as said when its turn comes."""
        self._running += 1
        if self._running > 1 and not self._is_patient:
            self._unsaid.append(prompt)
        elif not self._is_patient or not self._the_screen.can_ask:
            await self._the_screen.write(self._layout.prompt(prompt))

    async def run(self) -> None:
        """Tell for ever."""
        while True:
            news = await self._events.take()
            text = "".join(self._told(each) for each in news)
            if text:
                await self._the_screen.write(text)
            for each in news:
                if isinstance(each, QueueMarker):
                    each.reached.set()
            self._the_screen.refresh()
            self.stir()

    def live(self, rows: int, columns: int) -> str:
        """Draw what moves, the prompts that wait below it."""
        fate = messages.STEERING if self._is_steering else messages.QUEUED
        waiting = [
            self._layout.transient(
                Text(f"❯ {clip(sanitize_line(prompt), columns - 16)}  ({fate})", style="dim")
            )
            for prompt in self._unsaid
        ]
        moving = self._narrator.live(max(1, rows - len(waiting)), columns)
        if not moving and self.is_busy:
            moving = self._layout.transient(self._narrator.pulse())
        return "\n".join(part for part in (moving, *waiting) if part)

    def invitation(self, columns: int) -> str:
        """Say what may be typed now."""
        if not self.is_busy:
            return clip(messages.IDLE_PLACEHOLDER, columns)
        busy = messages.STEERING_PLACEHOLDER if self._is_steering else messages.QUEUEING_PLACEHOLDER
        return clip(busy, columns)

    def status(self, columns: int) -> str:
        """Return the line at the bottom."""
        if self.hint:
            return clip(self.hint, max(1, columns - 1))
        if self._link.current is None:
            return messages.RESTARTING if self._link.openings else messages.STARTING
        return self._session_status.line(columns)

    @property
    def _the_screen(self) -> Screen:
        assert self._screen is not None
        return self._screen

    @property
    def _is_steering(self) -> bool:
        return self._session_status.current("during_turn") == "steer"

    def _told(self, news: ChatEvent) -> str:
        match news:
            case UpdateReceived():
                return self._updated(news)
            case TurnFinished():
                return self._over(news)
            case SessionOpened():
                return self._opened(news)
            case Remark(text=text, style=style):
                return self._narrator.settle() + self._layout.remark(text, style)
            case QueueMarker():
                return ""

    def _updated(self, news: UpdateReceived) -> str:
        update = self._link.seen.fresh(news.update) if news.is_again else news.update
        if update is None:
            return ""
        self._link.seen.note(update)
        self._session_status.take(update)
        steered = "" if isinstance(update, MESSAGE_CHUNKS) or not self._is_steering else self._say_unsaid()
        return steered + self._narrator.take(update)

    def _say_unsaid(self) -> str:
        said = [self._unsaid.popleft() for _ in range(len(self._unsaid))]
        return self._narrator.settle() + "".join(map(self._layout.prompt, said)) if said else ""

    def _opened(self, news: SessionOpened) -> str:
        if news.was_lost:
            return ""
        rest = self._narrator.end_turn()
        self._narrator.take_unasked()
        if not news.has_past:
            return rest
        title = self._session_status.title or news.session_id
        return rest + self._layout.remark(messages.resumed(title))

    def _over(self, news: TurnFinished) -> str:
        self._running -= 1
        text = self._narrator.end_turn()
        self.hint = ""
        if news.error is not None:
            self.has_failed = True
            text += self._layout.remark(news.error.sentence, "red")
        elif not news.stop_reason:
            text += self._layout.remark(messages.RESTARTED, "yellow")
        elif news.stop_reason in messages.STOP_REASONS:
            text += self._layout.remark(messages.STOP_REASONS[news.stop_reason])
        if (count := self._narrator.take_unasked()) and self._link.supports_reviews:
            text += self._layout.remark(messages.changed_without_asking(count))
        if news.prompt in self._unsaid:  # it was taken into the turn that ends
            self._unsaid.remove(news.prompt)
            text = self._layout.prompt(news.prompt) + text
        if self._unsaid:
            text += self._layout.prompt(self._unsaid.popleft())
        return text
