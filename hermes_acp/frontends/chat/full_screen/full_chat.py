"""Set up the full-screen chat with the parts that all chats share."""

import select
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
from hermes_acp_client.errors import AgentError
from prompt_toolkit.completion import Completer
from prompt_toolkit.history import History

from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher
from hermes_acp.frontends.chat.agent.agent_link import AgentLost, SessionRequest
from hermes_acp.frontends.chat.chat_assembly import ChatAssembly
from hermes_acp.frontends.chat.chat_context import CommandContext
from hermes_acp.frontends.chat.chat_loop import InitialOptions
from hermes_acp.frontends.chat.full_screen import messages
from hermes_acp.frontends.chat.full_screen.activity_pane import Activity, ActivityPane
from hermes_acp.frontends.chat.full_screen.changes_pane import ChangesPane
from hermes_acp.frontends.chat.full_screen.chat_app import Background, ChatApp, ChatWidgets
from hermes_acp.frontends.chat.full_screen.entry_view import EntryView
from hermes_acp.frontends.chat.full_screen.full_screen import FullScreen
from hermes_acp.frontends.chat.full_screen.panel_questions import PanelQuestions
from hermes_acp.frontends.chat.full_screen.pending_read import PendingRead
from hermes_acp.frontends.chat.full_screen.prompt_area import CompletionMenu, PromptArea
from hermes_acp.frontends.chat.full_screen.question_panel import QuestionPanel
from hermes_acp.frontends.chat.full_screen.retained_layout import RetainedLayout
from hermes_acp.frontends.chat.full_screen.sessions_pane import SessionsPane
from hermes_acp.frontends.chat.full_screen.side_panes import KeysPane, SidePanes
from hermes_acp.frontends.chat.questions.approval_prompt import ProposedHunks
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle, TextRenderer
from hermes_acp.frontends.chat.screens.external_editor import ExternalEditor

TERMINAL_CHECK_S: Final = 1.0


class FullChat:
    """A full-screen chat: its parts, its application and its screen."""

    def __init__(
        self,
        launch: AgentLauncher,
        cwd: str,
        style: TerminalStyle,
        initial: InitialOptions,
        history: History,
        editor: ExternalEditor | None,
    ) -> None:
        self._style = style
        self._reads = PendingRead()
        conversation = EntryView(style, widget_id="conversation", follows_end=True)
        self._layout = RetainedLayout(
            TextRenderer(style, lambda: conversation.size.width - 4), conversation.append
        )
        self.parts = ChatAssembly(launch, cwd, self._layout, is_sequential=False)
        menu = CompletionMenu(widget_id="completions")
        prompt = PromptArea(self._completer(), history, menu, widget_id="prompt")
        panel = QuestionPanel(style, self._reads, prompt, widget_id="question")
        self._widgets = ChatWidgets(conversation, panel, self._side_panes(), menu, prompt)
        self.app = ChatApp(self._widgets, self.parts.widgets(), self._background(), self._reads, editor)
        self._screen = FullScreen(
            self.app, self._reads, panel, prompt, self._layout, self.app.changed, editor
        )
        panel_layout = RetainedLayout(TextRenderer(style, lambda: panel.size.width - 4), panel.keep)
        questions = PanelQuestions(self._screen, panel, panel_layout, self._layout, cwd, self._choose_hunks)
        self._context: CommandContext = self.parts.open(self._screen, questions, initial)
        self._group: anyio.abc.TaskGroup | None = None

    @property
    def is_asking(self) -> bool:
        """Whether a question waits for the person."""
        return self._reads.kind in ("key", "line", "hunks")

    async def hold(self, request: SessionRequest) -> int:
        """Run the chat in the running application, then end the application; return the exit code."""
        code = 1
        try:
            async with anyio.create_task_group() as self._group:
                code = await self.parts.hold(request)
                self._group.cancel_scope.cancel()
        finally:
            self.parts.events.close()
            self.app.exit()
        return code

    async def run(self, request: SessionRequest) -> int:
        """Run the application and the chat in it; return the exit code."""
        codes: list[int] = []

        async def draw() -> None:
            with anyio.CancelScope(shield=True):  # `hold` ends it, so that the terminal is restored
                await self.app.run_async()
            if not codes:  # the application has failed and reported the error
                group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(draw)
            await self.app.is_ready.wait()
            group.start_soon(self._leave_with_terminal, group.cancel_scope)
            codes.append(await self.hold(request))
            group.cancel_scope.cancel()
        return codes[0] if codes else 1

    async def _leave_with_terminal(self, chat: anyio.CancelScope) -> None:
        """End the chat if its terminal disappears without a signal; Textual would read the end of input forever."""
        terminal = select.poll()
        terminal.register(sys.stdin, 0)  # only errors and hang-ups
        while not terminal.poll(0):
            await anyio.sleep(TERMINAL_CHECK_S)
        chat.cancel()

    def _completer(self) -> Completer:
        from hermes_acp.frontends.chat.chat_loop import COMMANDS
        from hermes_acp.frontends.chat.input.completion_source import CompletionSource
        from hermes_acp.frontends.chat.input.line_completion import LineCompleter

        offering = CompletionSource(self.parts.session_status, COMMANDS)
        return LineCompleter(
            self.parts.cwd, offering.commands, offering.values, offering.wait_for_commands, time.monotonic
        )

    def _side_panes(self) -> SidePanes:
        parts = self.parts
        return SidePanes(
            ChangesPane(self._style, parts.link, self._reads, parts.cwd, widget_id="changes"),
            SessionsPane(self._style, parts.link, parts.cwd, self._open_session, widget_id="sessions"),
            ActivityPane(self._style, self._activity, time.monotonic, widget_id="activity"),
            KeysPane(self._style, widget_id="keys"),
            widget_id="side",
        )

    def _background(self) -> Background:
        return Background(self._spawn, lambda: self.parts.presenter.is_busy)

    def _activity(self) -> Activity:
        cards = [card for card in self.parts.session_renderer.cards.values() if not card.is_finished]
        return Activity(
            self.parts.presenter.is_busy, self.is_asking, cards, self.parts.presenter.unused_prompts
        )

    async def _choose_hunks(self, hunks: ProposedHunks) -> ProposedHunks | None:
        changes = self._widgets.side.changes

        async def reveal() -> None:
            await self.app.reveal("changes")

        kept = await changes.choose(hunks, reveal)
        self.app.close_side()
        return kept

    async def _open_session(self, request: SessionRequest) -> None:
        if self.parts.presenter.is_busy:
            await self._context.tell(messages.BUSY, "yellow")
        else:
            self._spawn(lambda: self._context.switch(request))
        self.app.close_side()

    def _spawn(self, act: Callable[[], Awaitable[object]]) -> None:
        """Run a task that talks to the agent; the chat itself reports a lost agent."""

        async def run() -> None:
            try:
                await act()
            except (AgentError, AgentLost):
                return

        if self._group is not None:
            self._group.start_soon(run)
