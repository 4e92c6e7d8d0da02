"""The agent behind a chat: its process, the session that is open on it, and both again after a crash.

Knows: starting, opening, switching, starting again. Does not know: what is shown.
"""

from typing import Final, Literal

import anyio
from hermes_acp_client.agent import Agent
from hermes_acp_client.errors import AgentError, AgentGone
from hermes_acp_client.opening import User, adopt_agent
from hermes_acp_client.session import Session
from msgspec import Struct

from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher
from hermes_acp.frontends.chat.agent.chat_events import EventQueue, SessionOpened, UpdateReceived
from hermes_acp.frontends.chat.agent.shown_updates import ShownUpdates
from hermes_protocol import v1

MAX_RESTARTS: Final = 3


class SessionRequest(Struct, frozen=True):
    """Which session to open: a new one, the newest of the folder, a stored one, a copy of one."""

    kind: Literal["new", "newest", "stored", "fork"] = "new"
    session_id: str = ""


class AgentLost(Exception):
    """There is no agent any more, and none could be started; the cause says why."""


class AgentLink:
    """One agent and one open session at a time."""

    def __init__(self, launch: AgentLauncher, cwd: str, events: EventQueue) -> None:
        self._launch = launch
        self._cwd = cwd
        self._events = events
        self._agent: Agent | None = None
        self._session: Session | None = None
        self._last: Session | None = None
        self._changed = anyio.Event()
        self._is_again = False
        self._restarts = 0
        self._openings = 0
        self.seen = ShownUpdates()
        self.failure: AgentError | None = None

    @property
    def openings(self) -> int:
        """How many times a session was opened so far."""
        return self._openings

    @property
    def current(self) -> Session | None:
        """The open session; None while there is none."""
        return self._session

    @property
    def last_id(self) -> str:
        """The id of the session that was open last; empty where none was."""
        return self._last.id if self._last else ""

    @property
    def accepts_partial_edits(self) -> bool:
        """Whether parts of an edit may be taken."""
        return self._agent is not None and self._agent.accepts_partial_edits

    @property
    def supports_reviews(self) -> bool:
        """Whether edits that were made without a question can be judged later."""
        return self._agent is not None and bool(self._agent.additions.get("reviews"))

    async def keep(self, wish: SessionRequest, user: User) -> None:
        """Keep an agent running with a session open, until that is hopeless; then `failure` says why."""
        try:
            while True:
                await self._keep_one(wish, user)
                wish = SessionRequest("stored", self._last.id) if self._last else wish
                self._restarts += 1
        except AgentError as error:
            self.failure = error
        finally:
            self._session = None
            self._wake()

    def take(self, session_id: str, update: v1.SessionUpdate) -> None:
        """Take an update; one of another session, closed meanwhile, is let go."""
        if self._session is None or session_id == self._session.id:
            self._events.put(UpdateReceived(update, self._is_again))

    async def session(self) -> Session:
        """Wait for the open session. Raises Lost when there will be none."""
        while self._session is None:
            if self.failure is not None:
                raise AgentLost from self.failure
            await self._changed.wait()
        return self._session

    async def reopened(self, after: int) -> None:
        """Wait until a session was opened more often than so many times. Raises Lost."""
        while self._openings <= after:
            if self.failure is not None:
                raise AgentLost from self.failure
            await self._changed.wait()

    async def agent(self) -> Agent:
        """Wait for an agent with an open session. Raises Lost."""
        await self.session()
        assert self._agent is not None
        return self._agent

    async def switch(self, wish: SessionRequest) -> None:
        """Open another session in the place of the open one. Raises AgentError where it stays, Lost."""
        agent, before = await self.agent(), await self.session()
        if wish.kind == "stored" and wish.session_id == before.id:
            return
        self._session = None
        try:
            opened = await self._opened(agent, wish)
        except AgentError:
            self._session = before
            self._wake()
            raise
        self.seen = ShownUpdates()
        self._enter(opened, has_past=wish.kind != "new")
        await agent.close_session(before.id)

    def settle(self) -> None:
        """Note that the agent did what it was asked: whatever happens next is another story."""
        self._restarts = 0

    async def _keep_one(self, wish: SessionRequest, user: User) -> None:
        was_lost = self._restarts > 0
        try:
            async with adopt_agent(self._launch.take(), user=user) as agent:
                if was_lost:
                    self.seen.begin_replay()
                self._is_again = was_lost
                opened = await self._opened(agent, wish)
                self._is_again = False
                self._agent = agent
                self._enter(opened, has_past=wish.kind != "new", was_lost=was_lost)
                await agent.gone()
        except AgentGone:
            if self._last is None or self._restarts >= MAX_RESTARTS:
                raise
        finally:
            self._session, self._agent = None, None

    async def _opened(self, agent: Agent, wish: SessionRequest) -> Session:
        match wish.kind:
            case "new":
                return await agent.new_session(self._cwd)
            case "fork":
                return await self._forked(agent, wish.session_id)
            case "stored":
                return await agent.load_session(wish.session_id, self._cwd)
            case "newest":
                listed = await agent.list_sessions(self._cwd)
                if not listed:
                    return await agent.new_session(self._cwd)
                return await agent.load_session(listed[0].session_id, self._cwd)

    async def _forked(self, agent: Agent, session_id: str) -> Session:
        """Open a copy, and have its past told: a fork alone shows nothing."""
        copy = await agent.fork_session(session_id, self._cwd)
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
