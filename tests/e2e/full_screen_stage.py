"""The full-screen chat without a terminal: textual's pilot presses keys; the agent is a real process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
from prompt_toolkit.history import InMemoryHistory
from textual.events import Paste
from textual.pilot import Pilot
from textual.selection import Selection
from textual.widgets import Static

from hermes_acp.config.environment import environment_of
from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher
from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.chat_loop import InitialOptions
from hermes_acp.frontends.chat.full_screen.entry_view import EntryView
from hermes_acp.frontends.chat.full_screen.full_chat import FullChat
from hermes_acp.frontends.chat.full_screen.question_panel import QuestionPanel
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle
from tests.e2e.agent_process import agent_environment
from tests.e2e.chat_environment import Place
from tests.model_server import ModelServer

WAIT_S = 15
SIZE = (120, 40)
STYLE = TerminalStyle("standard", is_plain=False)
EVERYTHING = Selection(None, None)


class Stage:
    """One chat, its keys, and its screen."""

    def __init__(self, chat: FullChat, pilot: Pilot[None]) -> None:
        self.chat = chat
        self.app = chat.app
        self.pilot = pilot

    def text(self, view: str = "conversation") -> str:
        """Return all text in a view, including what has scrolled out of sight."""
        found = self.app.query_one(f"#{view}", EntryView).get_selection(EVERYTHING)
        return found[0] if found else ""

    def label(self, name: str) -> str:
        """Return the text of a line outside the views."""
        return str(self.app.query_one(f"#{name}", Static).render())

    @property
    def choices(self) -> str:
        """Return the options in a question, and why it is asked."""
        return "\n".join(self.app.query_one(QuestionPanel).choice_rows)

    async def press(self, *keys: str) -> None:
        """Press keys given by name."""
        await self.pilot.press(*keys)

    async def say(self, text: str) -> None:
        """Paste text at the focus; press Enter if it ends with `\r`."""
        self.app.post_message(Paste(text.removesuffix("\r")))
        await self.pilot.pause()
        if text.endswith("\r"):
            await self.press("enter")

    async def see(self, words: str, view: str = "conversation") -> None:
        """Wait until a view shows some words."""
        await self.until(lambda: words in self.text(view), f"{words!r} in {view}", view)

    async def until(self, is_true: Callable[[], bool], what: str, view: str = "conversation") -> None:
        """Wait until a condition holds."""
        try:
            with anyio.fail_after(WAIT_S):
                while not is_true():
                    await self.pilot.pause(0.02)
        except TimeoutError:
            raise AssertionError(f"never: {what}\n{self.text(view)}\n{self.label('status')}") from None

    async def asked(self) -> None:
        """Wait until a question is shown."""
        await self.until(lambda: self.chat.is_asking, "a question")


@asynccontextmanager
async def full_chat(
    place: Place, server: ModelServer, size: tuple[int, int] = SIZE, mode: str = "", **more: str
) -> AsyncGenerator[Stage]:
    """Run the chat for the block, with an open session."""
    environment = environment_of(agent_environment(place.home, server, **more))
    launch = AgentLauncher((), environment)
    chat = FullChat(launch, str(place.project), STYLE, InitialOptions("", mode), InMemoryHistory(), None)
    async with chat.app.run_test(size=size) as pilot, anyio.create_task_group() as tasks:
        tasks.start_soon(chat.hold, SessionRequest())
        stage = Stage(chat, pilot)
        await stage.until(lambda: "scripted-large" in stage.label("status"), "the session")
        yield stage
        tasks.cancel_scope.cancel()
