"""Connect a chat to its agent: the process and the open session, both of which are restored after a crash."""

from collections.abc import Awaitable, Callable
from typing import Final, Literal

import anyio
from hermes_acp_client.agent import Agent
from hermes_acp_client.errors import AgentError, AgentGone
from hermes_acp_client.opening import User, adopt_agent
from hermes_acp_client.session import Session
from msgspec import Struct

from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher
from hermes_acp.frontends.chat.agent.chat_events import EventQueue, SessionLeft, SessionOpened, UpdateReceived
from hermes_acp.frontends.chat.agent.prompt_marks import PromptMarks
from hermes_acp.frontends.chat.agent.session_list import latest_sessions
from hermes_acp.frontends.chat.agent.shown_updates import ShownUpdates
from hermes_protocol import v1

MAX_RESTARTS: Final = 3


class SessionRequest(Struct, frozen=True):
    """The session to open: a new one, the latest of the folder, one that the person picks, a stored one, or a copy.

    If `before` is a message ID, a copy ends before the prompt with that ID.
    """

    kind: Literal["new", "newest", "picked", "stored", "fork"] = "new"
    session_id: str = ""
    before: str = ""


PickSession = Callable[[list[v1.SessionInfo]], Awaitable[str]]
"""Returns the ID of the session that the person picks from a list, or an empty string for a new one."""


class AgentLost(Exception):
    """No agent is running and none could be started; the cause says why."""


class AgentLink:
    """Keeps one agent running, with one open session."""

    def __init__(self, launch: AgentLauncher, cwd: str, events: EventQueue) -> None:
        self._launch = launch
        self._cwd = cwd
        self._events = events
        self._agent: Agent | None = None
        self._session: Session | None = None
        self._last: Session | None = None
        self._changed = anyio.Event()
        self._is_replaying = False
        self._restarts = 0
        self._openings = 0
        self._pick: PickSession | None = None
        self.seen = ShownUpdates()
        self.marks = PromptMarks()
        self.failure: AgentError | None = None

    @property
    def openings(self) -> int:
        """The number of sessions opened so far."""
        return self._openings

    @property
    def current(self) -> Session | None:
        """The open session, or None."""
        return self._session

    @property
    def last_id(self) -> str:
        """The ID of the session that was opened last, or an empty string."""
        return self._last.id if self._last else ""

    @property
    def accepts_partial_edits(self) -> bool:
        """Whether individual hunks of an edit can be accepted."""
        return self._agent is not None and self._agent.accepts_partial_edits

    @property
    def prompt_capabilities(self) -> v1.PromptCapabilities:
        """The kinds of content that a prompt may contain, besides text and links."""
        offered = self._agent.greeting.agent_capabilities if self._agent else None
        takes = offered.prompt_capabilities if offered else None
        return takes if isinstance(takes, v1.PromptCapabilities) else v1.PromptCapabilities()

    @property
    def supports_reviews(self) -> bool:
        """Whether edits made without asking can be reviewed later."""
        return self._agent is not None and bool(self._agent.additions.get("reviews"))

    async def run(self, request: SessionRequest, user: User, pick: PickSession) -> None:
        """Keep an agent running with an open session; after a permanent failure, set `failure` and return."""
        self._pick = pick
        try:
            while True:
                await self._run_agent(request, user)
                request = SessionRequest("stored", self._last.id) if self._last else request
                self._restarts += 1
        except AgentError as error:
            self.failure = error
        finally:
            self._session = None
            self._wake()

    def take(self, session_id: str, update: v1.SessionUpdate) -> None:
        """Queue an update for the open session; drop it if it is for another session."""
        if self._session is None or session_id == self._session.id:
            self._events.put(UpdateReceived(update, self._is_replaying))

    async def session(self) -> Session:
        """Wait for the open session. Raises AgentLost."""
        while self._session is None:
            if self.failure is not None:
                raise AgentLost from self.failure
            await self._changed.wait()
        return self._session

    async def reopened(self, after: int) -> None:
        """Wait until more than `after` sessions have been opened. Raises AgentLost."""
        while self._openings <= after:
            if self.failure is not None:
                raise AgentLost from self.failure
            await self._changed.wait()

    async def agent(self) -> Agent:
        """Wait for an agent with an open session. Raises AgentLost."""
        await self.session()
        assert self._agent is not None
        return self._agent

    async def switch(self, request: SessionRequest) -> None:
        """Open another session. Raises AgentError, in which case the current one stays open, or AgentLost."""
        agent, before = await self.agent(), await self.session()
        if request.kind == "stored" and request.session_id == before.id:
            return
        self._session = None
        self._events.put(SessionLeft())
        try:
            opened = await self._opened(agent, request)
        except AgentError:
            self._session = before
            self._wake()
            raise
        self.seen = ShownUpdates()
        self._enter(opened, has_past=request.kind != "new")
        await agent.close_session(before.id)

    def settle(self) -> None:
        """Reset the count of restarts, because the agent has completed a prompt."""
        self._restarts = 0

    async def _run_agent(self, request: SessionRequest, user: User) -> None:
        was_lost = self._restarts > 0
        try:
            async with adopt_agent(self._launch.take(), user=user) as agent:
                if was_lost:
                    self.seen.begin_replay()
                self._is_replaying = was_lost
                opened = await self._opened(agent, request)
                self._is_replaying = False
                self._agent = agent
                self._enter(opened, has_past=request.kind != "new", was_lost=was_lost)
                await agent.gone()
        except AgentGone:
            if self._last is None or self._restarts >= MAX_RESTARTS:
                raise
        finally:
            self._session, self._agent = None, None

    async def _opened(self, agent: Agent, request: SessionRequest) -> Session:
        match request.kind:
            case "new":
                return await agent.new_session(self._cwd)
            case "fork":
                return await self._forked(agent, request)
            case "stored":
                return await agent.load_session(request.session_id, self._cwd)
            case "newest":
                newest = _newest_used(await agent.list_sessions(self._cwd))
                if newest is None:
                    return await agent.new_session(self._cwd)
                return await agent.load_session(newest.session_id, self._cwd)
            case "picked":
                assert self._pick is not None
                picked = await self._pick(await latest_sessions(agent, self._cwd))
                if not picked:
                    return await agent.new_session(self._cwd)
                return await agent.load_session(picked, self._cwd)

    async def _forked(self, agent: Agent, request: SessionRequest) -> Session:
        """Create a copy and load it, because forking alone does not replay the history."""
        copy = await agent.fork_session(request.session_id, self._cwd, before=request.before)
        await agent.close_session(copy.id)
        return await agent.load_session(copy.id, self._cwd)

    def _enter(self, session: Session, *, has_past: bool, was_lost: bool = False) -> None:
        self._session = self._last = session
        self._openings += 1
        self._events.put(UpdateReceived(v1.ConfigOptionUpdate(config_options=list(session.options))))
        self._events.put(SessionOpened(session.id, has_past, was_lost))
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def _newest_used(listed: list[v1.SessionInfo]) -> v1.SessionInfo | None:
    """Return the latest session that has a prompt, which is one with a title."""
    titled = (info for info in listed if isinstance(info.title, str) and info.title)
    return next(titled, listed[0] if listed else None)
