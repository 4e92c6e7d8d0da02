"""Connect the parts of a chat that do not depend on its screen."""

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from hermes_acp_client.opening import User

from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher
from hermes_acp.frontends.chat.agent.agent_link import AgentLink, SessionRequest
from hermes_acp.frontends.chat.agent.chat_events import EventQueue
from hermes_acp.frontends.chat.agent.open_session_status import SessionStatus
from hermes_acp.frontends.chat.chat_context import CommandContext
from hermes_acp.frontends.chat.chat_loop import Chat, InitialOptions
from hermes_acp.frontends.chat.event_presenter import EventPresenter
from hermes_acp.frontends.chat.prompt_queue import PromptQueue
from hermes_acp.frontends.chat.questions.questions_screen import QuestionsScreen
from hermes_acp.frontends.chat.rendering.session_renderer import SessionRenderer
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.screen import Screen, ScreenWidgets
from hermes_acp.frontends.chat.spoken_prompt import SpokenPrompt

CAPABILITIES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "_meta": {
            "hermes": {
                "edits": True,
                "turnMarks": True,
                "turnStates": True,
                "diffHunks": True,
                "surface": "terminal",
            }
        },
        "session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}},
    }
)
NAME: Final = "hermes-acp-chat"


class ChatAssembly:
    """The parts of a chat. A screen is created with `widgets`; then `open` connects the parts to it."""

    def __init__(
        self, launch: AgentLauncher, cwd: str, layout: TranscriptLayout, *, is_sequential: bool
    ) -> None:
        self.cwd = cwd
        self._is_foreign = launch.environment.is_foreign
        self._variables = launch.environment.variables
        self.layout = layout
        self.events = EventQueue()
        self.session_status = SessionStatus()
        self.link = AgentLink(launch, cwd, self.events)
        self.session_renderer = SessionRenderer(layout, cwd, time.monotonic)
        self._prompts = PromptQueue()
        self.presenter = EventPresenter(
            self.events,
            layout,
            self.session_renderer,
            self.session_status,
            self.link,
            self._prompts,
            is_sequential=is_sequential,
        )
        self._chat: Chat | None = None

    @property
    def chat(self) -> Chat:
        """The chat; available only after `open`."""
        assert self._chat is not None
        return self._chat

    def widgets(self) -> ScreenWidgets:
        """Return the widgets that a screen draws around its input line."""
        presenter = self.presenter
        return ScreenWidgets(
            presenter.live, presenter.status, presenter.placeholder, lambda: self.chat.key_actions
        )

    def open(
        self, screen: Screen, questions_screen: QuestionsScreen, initial: InitialOptions
    ) -> CommandContext:
        """Connect the parts to a screen; return the context for commands."""
        self.presenter.attach_screen(screen)
        context = CommandContext(
            screen,
            self.layout,
            self.session_renderer,
            self.session_status,
            self.link,
            self.cwd,
            self._is_foreign,
        )
        spoken_prompt = SpokenPrompt(context, self.presenter, self._variables)
        self._chat = Chat(
            context, self.events, self.presenter, self._prompts, initial, questions_screen, spoken_prompt
        )
        return context

    async def hold(self, request: SessionRequest) -> int:
        """Run the chat until it ends; return the exit code."""
        user = User(self.chat.permit, self.chat.inquire, self.link.take, capabilities=CAPABILITIES, name=NAME)
        return await self.chat.hold(lambda: self.link.run(request, user, self.chat.pick_session))
