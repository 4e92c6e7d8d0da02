"""A chat: prompts go to the agent, news are told, questions are put, one at a time at one terminal.

Knows: who may read the terminal when, what a prompt becomes.
Does not know: how anything is drawn, how the agent is started.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
from hermes_acp_client.asking import Permission, option_named
from hermes_acp_client.errors import AgentError, AgentGone, SignInNeeded
from msgspec import Struct

from hermes_acp.core.drawers import Drawer
from hermes_acp.faces.chat.asking import Approval
from hermes_acp.faces.chat.folder_files import mentions
from hermes_acp.faces.chat.forms import Inquirer
from hermes_acp.faces.chat.link import Lost
from hermes_acp.faces.chat.news import Mailbox, Remark, TurnOver
from hermes_acp.faces.chat.screen import Gesture, Reaction
from hermes_acp.faces.chat.slash import ChatCommand, Desk
from hermes_acp.faces.chat.teller import Teller
from hermes_protocol import v1

COMMANDS: Final = Drawer[ChatCommand]("hermes_acp.faces.chat.commands", "COMMAND")
LEAVE_HINT: Final = "Ctrl+C again, or Ctrl+D, leaves."
FAILED, UNUSABLE, REFUSED = 1, 2, 5


class _Question:
    """Something only a person can answer, until it is answered or nobody wants to know any more."""

    def __init__(self, put: Callable[[], Awaitable[Any]]) -> None:
        self.put = put
        self.answer: Any = None
        self.is_withdrawn = False
        self.is_settled = anyio.Event()


class Wishes(Struct, frozen=True):
    """Options to be set as soon as the first session is open."""

    model: str = ""
    mode: str = ""


class Chat:
    """One chat, from its first prompt to its end."""

    def __init__(self, desk: Desk, mailbox: Mailbox, teller: Teller, wishes: Wishes) -> None:
        self._desk = desk
        self._mailbox = mailbox
        self._teller = teller
        self._wishes = wishes
        self._questions: deque[_Question] = deque()
        self._asking: _Question | None = None
        self._is_cancelling = False
        self._was_warned = False
        self._was_refused = False
        self._group: anyio.abc.TaskGroup | None = None

    async def hold(self, begin: Callable[[], Awaitable[None]]) -> int:
        """Hold the chat; `begin` keeps the agent. Gives the exit code."""
        async with anyio.create_task_group() as group:
            self._group = group
            group.start_soon(self._keep, begin)
            group.start_soon(self._teller.run)
            group.start_soon(self._call_away_at_end)
            group.start_soon(self._set_wishes)
            try:
                await self._read()
                await self._mailbox.all_told()
            finally:
                group.cancel_scope.cancel()
        return self._code()

    def interrupt(self, has_text: bool) -> Reaction:
        """Take Ctrl+C: it stops the turn, clears the line, or leaves the second time."""
        session = self._desk.link.current
        if self._teller.is_busy:
            if self._is_cancelling or session is None:
                self._desk.is_leaving = True
                return "leave"
            self._is_cancelling = True
            self._teller.hint = "Stopping… Ctrl+C again leaves."
            session.cancel()
            return "stay"
        if has_text:
            return "clear"
        if self._was_warned:
            self._desk.is_leaving = True
            return "leave"
        self._was_warned = True
        self._teller.hint = LEAVE_HINT
        return "stay"

    async def permit(self, request: v1.RequestPermissionRequest) -> Permission | None:
        """Put a request for permission; where nobody is there it is refused."""
        desk = self._desk
        await self._mailbox.all_told()
        if not desk.screen.can_ask:
            self._was_refused = True
            title = request.tool_call.title or request.tool_call.tool_call_id
            self._mailbox.put(Remark(f"Refused, as nobody can be asked here: {title}", "yellow"))
            return Permission(option_named(request, "reject_once"))
        if card := desk.narrator.cards.get(request.tool_call.tool_call_id):
            card.was_judged = True
        approval = Approval(desk.screen, desk.narrator, request, desk.cwd, heeds_edits=desk.link.heeds_edits)
        judged = await self._ask(approval.put)
        if judged is None:
            return None
        if judged.stops_turn:
            self.interrupt(False)
        return judged.permission

    async def inquire(self, request: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
        """Put a form or a page; where nobody is there it is dismissed."""
        await self._mailbox.all_told()
        if not self._desk.screen.can_ask:
            return v1.CreateElicitationResponseCancel()
        answer = await self._ask(lambda: Inquirer(self._desk.screen, self._desk.narrator).put(request))
        return answer or v1.CreateElicitationResponseCancel()

    async def _ask(self, put: Callable[[], Awaitable[Any]]) -> Any:
        """Have a question put by whoever reads the terminal, and wait for its answer."""
        question = _Question(put)
        self._questions.append(question)
        self._call_away()
        try:
            await question.is_settled.wait()
        finally:
            question.is_withdrawn = True
            if self._asking is question:
                self._desk.screen.call_away()
        return question.answer

    async def _keep(self, begin: Callable[[], Awaitable[None]]) -> None:
        await begin()
        self._call_away()

    async def _call_away_at_end(self) -> None:
        """Let go of the terminal when anything here fails: a prompt would wait on for somebody to type."""
        try:
            await anyio.sleep_forever()
        finally:
            self._desk.screen.call_away()

    async def _set_wishes(self) -> None:
        try:
            await self._desk.link.session()
        except Lost:
            return
        for name, wanted in (("model", self._wishes.model), ("mode", self._wishes.mode)):
            if wanted:
                await self._mailbox.all_told()
                await self._desk.set_option(name, wanted)

    async def _read(self) -> None:
        """Read the terminal until the end: the only task that does."""
        desk = self._desk
        if not desk.screen.can_ask:
            await self._wait_for_session()
        while True:
            await self._put_questions()
            if desk.is_leaving or desk.link.failure is not None:
                return
            if self._teller.must_wait:
                await self._teller.stirred()
                continue
            line = await desk.screen.read_prompt()
            if isinstance(line, str):
                await self._take(line)
            elif line is Gesture.LEFT:
                desk.is_leaving = True
                return

    async def _wait_for_session(self) -> None:
        """Wait until there is one, or none to be had: a pipe may be at its end before."""
        try:
            await self._desk.link.session()
        except Lost:
            return

    async def _put_questions(self) -> None:
        while self._questions:
            question = self._questions.popleft()
            if question.is_withdrawn:
                continue
            self._asking = question
            question.answer = await question.put()
            self._asking = None
            question.is_settled.set()

    async def _take(self, line: str) -> None:
        """Take a line: a command of the chat, else a prompt."""
        self._teller.hint, self._was_warned = "", False
        name, _, words = line.strip().removeprefix("/").partition(" ")
        name = "quit" if name == "exit" else name
        if line.startswith("/") and name in COMMANDS:
            command = COMMANDS.open(name)
            if command.needs_rest and self._teller.is_busy:
                await self._desk.tell(f"/{name} waits for the end of the turn. Ctrl+C stops it.", "yellow")
                return
            try:
                await command.run(self._desk, words.strip())
            except Lost:
                return
            return
        assert self._group is not None
        await self._teller.begin(line)
        self._group.start_soon(self._send, line)

    async def _send(self, line: str) -> None:
        """See a prompt through, over the agent's end too: what the agent had not heard is sent once more."""
        content: list[v1.ContentBlock] = [v1.TextContent(text=line), *mentions(line, self._desk.cwd)]
        over = TurnOver(line)
        try:
            while True:
                session, openings = await self._desk.link.session(), self._desk.link.openings
                try:
                    answer = await session.send(content)
                    over = TurnOver(line, stop_reason=answer.stop_reason)
                except AgentGone:
                    await self._desk.link.reopened(openings)
                    if line not in self._desk.link.seen.recalled_prompts[-self._teller.waiting :]:
                        continue
                except AgentError as error:
                    over = TurnOver(line, error=error)
                self._desk.link.settle()
                break
        except Lost:
            over = TurnOver(line, error=self._desk.link.failure)
        self._is_cancelling = False
        self._mailbox.put(over)

    def _call_away(self) -> None:
        self._teller.stir()
        if self._asking is None:
            self._desk.screen.call_away()

    def _code(self) -> int:
        failure = self._desk.link.failure
        if failure is not None:
            return UNUSABLE if isinstance(failure, SignInNeeded) else FAILED
        if self._desk.screen.can_ask:
            return 0
        return REFUSED if self._was_refused else FAILED if self._teller.has_failed else 0
