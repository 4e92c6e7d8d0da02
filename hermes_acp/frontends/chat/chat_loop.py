"""The main loop of a chat: prompts, slash commands, and questions, one at a time on one terminal."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.to_thread
from hermes_acp_client.asking import Permission
from hermes_acp_client.errors import AgentError, AgentGone, AgentRefused
from msgspec import Struct

from hermes_acp.core.errors import exit_code_of
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import AgentLost
from hermes_acp.frontends.chat.agent.chat_events import (
    EventQueue,
    PromptSent,
    Remark,
    TurnFinished,
    UpdateReceived,
)
from hermes_acp.frontends.chat.chat_context import COMMANDS, CommandContext
from hermes_acp.frontends.chat.event_presenter import EventPresenter
from hermes_acp.frontends.chat.input.attachments import attachments_of
from hermes_acp.frontends.chat.input.command_names import as_command, closest, known_names, split_command
from hermes_acp.frontends.chat.key_actions import KeyActions
from hermes_acp.frontends.chat.prompt_queue import PromptQueue
from hermes_acp.frontends.chat.questions.questions_screen import QuestionsScreen
from hermes_acp.frontends.chat.screens.screen import Gesture
from hermes_acp.frontends.chat.session_picker import pick_at_start
from hermes_acp.frontends.chat.spoken_prompt import SpokenPrompt
from hermes_protocol import v1


class _Question:
    """A pending question for the person."""

    def __init__(self, put: Callable[[], Awaitable[Any]]) -> None:
        self.put = put
        self.answer: Any = None
        self.scope = anyio.CancelScope()
        self.is_settled = anyio.Event()


class InitialOptions(Struct, frozen=True):
    """The options to set once the first session is open, and the first prompt."""

    model: str = ""
    mode: str = ""
    prompt: str = ""


class Chat:
    """One chat, from its first prompt to its end."""

    def __init__(
        self,
        context: CommandContext,
        events: EventQueue,
        presenter: EventPresenter,
        prompts: PromptQueue,
        initial_options: InitialOptions,
        questions_screen: QuestionsScreen,
        spoken_prompt: SpokenPrompt,
    ) -> None:
        self._context = context
        self._events = events
        self._presenter = presenter
        self._prompts = prompts
        self._initial_options = initial_options
        self._questions_screen = questions_screen
        self._spoken_prompt = spoken_prompt
        self._questions: deque[_Question] = deque()
        self._asking: _Question | None = None
        self._is_at_prompt = False
        self.key_actions = KeyActions(context, presenter, prompts, spoken_prompt, self.take)
        self._was_refused = False
        self._is_misused = False
        self._is_configured = anyio.Event()
        self._group: anyio.abc.TaskGroup | None = None

    async def hold(self, begin: Callable[[], Awaitable[None]]) -> int:
        """Run the chat while `begin` keeps the agent running; return the exit code."""
        async with anyio.create_task_group() as group:
            self._group = group
            group.start_soon(self._keep, begin)
            group.start_soon(self._presenter.run)
            group.start_soon(self._send_in_order)
            group.start_soon(self._cancel_read_at_end)
            if self._context.screen.can_ask:
                group.start_soon(self._set_initial_options)
                group.start_soon(self._spoken_prompt.run)
            try:
                await self._read()
                await self._events.all_shown()
            finally:
                group.cancel_scope.cancel()
        return self._code()

    async def take(self, line: str) -> bool:
        """Handle a line that was entered while a question waits; return False if the chat is ending."""
        await self._take(line)
        return not self._context.is_leaving

    async def permit(self, request: v1.RequestPermissionRequest) -> Permission | None:
        """Ask for permission; if nobody is present, say so to the agent."""
        context = self._context
        await self._events.all_shown()
        if not context.screen.can_ask:
            self._was_refused = True
            title = request.tool_call.title or request.tool_call.tool_call_id
            self._events.put(Remark(messages.rejected_unattended(title), "yellow"))
            return Permission(None, is_unattended=True)
        if card := context.session_renderer.cards.get(request.tool_call.tool_call_id):
            card.was_reviewed = True
        may_split = context.link.accepts_partial_edits
        answer = await self._ask(
            lambda: self._questions_screen.approve(request, accepts_partial_edits=may_split)
        )
        if answer is None:
            return None
        if answer.stops_turn:
            self.key_actions.stop_turn()
        return answer.permission

    async def inquire(self, request: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
        """Show a form or a link, or dismiss it if nobody is present."""
        await self._events.all_shown()
        if not self._context.screen.can_ask:
            return v1.CreateElicitationResponseCancel()
        answer = await self._ask(lambda: self._questions_screen.fill_in(request))
        return answer or v1.CreateElicitationResponseCancel()

    async def pick_session(self, listed: list[v1.SessionInfo]) -> str:
        """Ask which session to start with; return its ID, or an empty string for a new one."""
        return await self._ask(lambda: pick_at_start(self._context, listed)) or ""

    async def _ask(self, put: Callable[[], Awaitable[Any]]) -> Any:
        """Queue a question for the task that reads the terminal, and wait for its answer."""
        question = _Question(put)
        self._questions.append(question)
        self._cancel_question()
        try:
            await question.is_settled.wait()
        finally:
            question.scope.cancel()
            if self._asking is question:
                self._context.screen.cancel_read()
        return question.answer

    async def _keep(self, begin: Callable[[], Awaitable[None]]) -> None:
        await begin()
        self._cancel_question()

    async def _cancel_read_at_end(self) -> None:
        """Release the terminal when any task fails; otherwise, the input prompt would wait for a key."""
        try:
            await anyio.sleep_forever()
        finally:
            self._context.screen.cancel_read()

    async def _set_initial_options(self) -> None:
        """Set the options from the command line before any prompt is sent; end the chat if one cannot be set."""
        link, initial = self._context.link, self._initial_options
        try:
            session = await link.session()
            for name, wanted in (("model", initial.model), ("mode", initial.mode)):
                if wanted:
                    await session.set_option(name, wanted)
            self._events.put(UpdateReceived(v1.ConfigOptionUpdate(config_options=list(session.options))))
        except AgentLost:
            return
        except AgentError as error:
            link.failure, self._is_misused = error, True
            self._cancel_question()
            return
        self._is_configured.set()

    async def _read(self) -> None:
        """Read the terminal until the chat ends; no other task reads it."""
        context = self._context
        if not context.screen.can_ask:  # piped input may end before a concurrent task has set them
            await self._set_initial_options()
        first = self._initial_options.prompt
        while True:
            await self._put_questions()
            if context.is_leaving or context.link.failure is not None:
                return
            if self._presenter.must_wait or (first and context.link.current is None):
                await self._presenter.changed()
                continue
            if first:
                await self._take(first)
                first = ""
                continue
            self._is_at_prompt = True
            line = await context.screen.read_prompt()
            self._is_at_prompt = False
            if isinstance(line, str):
                await self._take(line)
            elif line is Gesture.LEFT:
                context.is_leaving = True
                return

    async def _put_questions(self) -> None:
        while self._questions:
            question = self._questions.popleft()
            if question.scope.cancel_called:
                continue
            self._asking = question
            with question.scope:
                question.answer = await question.put()
            self._asking = None
            question.is_settled.set()

    async def _take(self, line: str) -> None:
        """Run a line as a slash command of the chat, send it to steer the turn, or queue it for a turn of its own."""
        self.key_actions.line_entered()
        line = as_command(line)
        name, words = split_command(line)
        if name in COMMANDS:
            await self._run_command(name, words)
            return
        if name and await self._is_unknown(name):
            return
        if name or not self._presenter.can_steer:
            self._prompts.add(line)
            return
        assert self._group is not None
        self._prompts.add_sent()
        self._events.put(PromptSent(line, steers=True))
        self._group.start_soon(self._send, line)

    async def _run_command(self, name: str, words: str) -> None:
        command = COMMANDS.open(name)
        if command.needs_idle and self._presenter.is_busy:
            await self._context.tell(messages.not_during_turn(name), "yellow")
            return
        await self._events.all_shown()  # including the running turn of a session that was just resumed
        try:
            await command.run(self._context, words)
        except AgentLost:
            return

    async def _is_unknown(self, name: str) -> bool:
        """Report a command that neither the chat nor the agent has; return whether that is so."""
        try:
            await self._context.link.session()
        except AgentLost:
            return False
        names = known_names(await self._context.session_status.wait_for_commands())
        if name in names:
            return False
        self._presenter.has_failed = True
        await self._context.tell(messages.unknown_command(name, closest(name, names)), "yellow")
        return True

    async def _send_in_order(self) -> None:
        """Send the waiting prompts, each after the answer to the previous one has been shown."""
        while self._context.link.failure is None:
            line = await self._prompts.take_next()
            self._events.put(PromptSent(line))
            await self._send(line)

    async def _send(self, line: str) -> None:
        """Send a prompt and wait for its answer; after a restart, resend it unless the agent had recorded it.

        A prompt that the person stops before the agent gets it is not sent.
        """
        over = TurnFinished(line)
        try:
            await self._is_configured.wait()
            content = await self._content(line)
            while True:
                session, openings = await self._context.link.session(), self._context.link.openings
                if self._prompts.is_stopping:
                    over = TurnFinished(line, stop_reason="cancelled", was_withheld=True)
                    break
                try:
                    answer = await session.send(content)
                    is_command = bool(split_command(line)[0])
                    over = TurnFinished(line, stop_reason=answer.stop_reason, is_command=is_command)
                except AgentGone:
                    await self._context.link.reopened(openings)
                    if line not in self._context.link.seen.replayed_prompts[-self._prompts.sent :]:
                        continue
                except AgentError as error:
                    over = TurnFinished(line, error=error)
                self._context.link.settle()
                break
        except AgentLost:
            over = TurnFinished(line, error=self._context.link.failure)
        self._events.put(over)

    async def _content(self, line: str) -> list[v1.ContentBlock]:
        """Return a prompt's content, with the files that the person mentions in it.

        Pasted and piped text may have been written by others. Mentions in pasted text are ignored; those in piped text
        become links, which the agent reads if policy allows it.
        """
        screen, link = self._context.screen, self._context.link
        capabilities = link.prompt_capabilities if screen.can_ask else v1.PromptCapabilities()
        typed = screen.without_pasted(line)
        attached = await anyio.to_thread.run_sync(
            attachments_of, typed, self._context.cwd, capabilities, self._context.is_foreign
        )
        for remark in attached.remarks:
            self._events.put(Remark(remark, "yellow"))
        return [v1.TextContent(text=line), *attached.blocks]

    def _cancel_question(self) -> None:
        self._presenter.notify_change()
        if self._is_at_prompt:
            self._context.screen.cancel_read()

    def _code(self) -> int:
        failure = self._context.link.failure
        if failure is not None:
            reason = failure.reason if isinstance(failure, AgentRefused) else ""
            return ExitCode.USAGE if self._is_misused else exit_code_of(reason)
        if self._context.screen.can_ask:
            return ExitCode.DONE
        if self._was_refused:
            return ExitCode.REFUSED
        return ExitCode.FAILED if self._presenter.has_failed else ExitCode.DONE
