"""Keep the agent process of a profile, which is started on demand and restarted after it has ended.

If the profile has a resident process, the agent process hands its connection over to it, so that sessions and turns
outlive the gateway.
"""

import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final, Protocol

import anyio
from hermes_acp_client.agent import Agent
from hermes_acp_client.asking import OnElicitation, OnPermission
from hermes_acp_client.child import start_child
from hermes_acp_client.errors import AgentError, AgentGone
from hermes_acp_client.opening import User, adopt_agent
from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.sections.gateway_settings import SECRET_PREFIX
from hermes_protocol import v1

CLIENT_NAME: Final = "hermes-acp gateway"
BACKOFF_S: Final = (0.0, 1.0, 2.0, 5.0, 15.0, 60.0)
CAPABILITIES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "_meta": {
            "hermes": {
                "edits": True,
                "turnStates": True,
                "turnEnds": True,
                "turnMarks": True,
                "surface": "chat",
            }
        }
    }
)


class SessionOwner(Protocol):
    """The receiver of a session's updates."""

    def take(self, update: v1.SessionUpdate) -> None:
        """Receive an update."""
        ...


class AgentCallbacks(Struct, frozen=True):
    """Callbacks for the agent's requests."""

    on_permission: OnPermission
    on_elicitation: OnElicitation


class AgentLink:
    """The connection to one profile's agent."""

    def __init__(self, environment: Environment, profile: str, callbacks: AgentCallbacks) -> None:
        self.profile = profile
        self._environment = environment
        self._callbacks = callbacks
        self._agent: Agent | None = None
        self._failure: AgentError | None = None
        self._changed = anyio.Event()
        self._wanted = anyio.Event()
        self._owners: dict[str, SessionOwner] = {}
        self.starts = 0

    def attach(self, session_id: str, owner: SessionOwner) -> None:
        """Route a session's updates to its owner."""
        self._owners[session_id] = owner

    def owner(self, session_id: str) -> SessionOwner | None:
        """Return the owner of a session."""
        return self._owners.get(session_id)

    def release(self, session_id: str) -> None:
        """Stop routing a session's updates."""
        self._owners.pop(session_id, None)

    async def detach(self, session_id: str) -> None:
        """Detach from a session, whose turns continue."""
        if self._agent is not None:
            with suppress(AgentError):  # the session has been closed, or the agent has ended
                await self._agent.call("session/detach", {"sessionId": session_id}, dict[str, Any])

    async def agent(self) -> Agent:
        """Return the running agent, starting it if necessary. Raises AgentError if the latest start failed."""
        self._wanted.set()
        while self._agent is None:
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            await self._changed.wait()
        return self._agent

    async def run(self, pause: Callable[[float], Awaitable[None]] = anyio.sleep) -> None:
        """Keep the agent running from its first use until cancelled."""
        failures = 0
        while True:
            await self._wanted.wait()
            await pause(BACKOFF_S[min(failures, len(BACKOFF_S) - 1)])
            try:
                failures = await self._run_agent(failures)
            except AgentError as error:
                failures += 1
                self._failure = error
                self._wanted = anyio.Event()
                self._wake()

    async def _run_agent(self, failures: int) -> int:
        """Run one agent process until it ends; return the number of consecutive failures."""
        callbacks = self._callbacks
        user = User(
            callbacks.on_permission,
            callbacks.on_elicitation,
            self._take,
            capabilities=CAPABILITIES,
            name=CLIENT_NAME,
        )
        try:
            async with adopt_agent(start_child(self._command(), self._variables()), user=user) as agent:
                self._agent, self._failure = agent, None
                self.starts += 1
                failures = 0
                self._wake()
                await agent.gone()
        except AgentGone:
            if self._agent is None:
                raise
        finally:
            self._agent = None
        return failures + 1

    def _take(self, session_id: str, update: v1.SessionUpdate) -> None:
        if owner := self._owners.get(session_id):
            owner.take(update)

    def _variables(self) -> dict[str, str]:
        """Return the agent's environment variables, without the platforms' secrets."""
        variables = self._environment.variables
        return {name: value for name, value in variables.items() if not name.startswith(SECRET_PREFIX)}

    def _command(self) -> list[str]:
        flags = ["--profile", self.profile] if self.profile != self._environment.profile else []
        return [sys.executable, "-m", "hermes_acp", *flags]

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
