"""Handle the agent's messages: updates, in order, and requests."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from hermes_acp_client.asking import (
    OnElicitation,
    OnPermission,
    answer_elicitation,
    answer_permission,
)
from hermes_acp_client.session import UpdateQueue
from hermes_protocol import salvage, v1
from hermes_protocol.connection import IncomingRequest
from hermes_protocol.errors import METHOD_NOT_FOUND, PeerError

Serve = Callable[[dict[str, Any]], Awaitable[dict[str, Any] | None]]
OnUpdate = Callable[[str, v1.SessionUpdate], None]


class ClientHandler:
    """The client as the agent sees it."""

    def __init__(
        self,
        on_permission: OnPermission | None,
        on_elicitation: OnElicitation | None,
        serves: Mapping[str, Serve],
        on_update: OnUpdate | None,
    ) -> None:
        self._on_permission = on_permission
        self._on_elicitation = on_elicitation
        self._serves = serves
        self._on_update = on_update
        self._queues: dict[str, UpdateQueue] = {}
        self.bugs: list[BaseException] = []

    def updates_of(self, session_id: str) -> UpdateQueue:
        """Return the queue of a session, whose updates may arrive before the answer that names it."""
        return self._queues.setdefault(session_id, UpdateQueue())

    def keep_bug(self, error: BaseException, trace: str) -> None:
        """Keep an unexpected exception from a callable, to raise it at the end of the block."""
        del trace
        self.bugs.append(error)

    async def request(self, call: IncomingRequest) -> object:
        """Serve a request from the agent."""
        if call.method == "session/request_permission":
            return await answer_permission(call.params, self._on_permission)
        if call.method == "elicitation/create" and self._on_elicitation is not None:
            return await answer_elicitation(call.params, self._on_elicitation)
        if call.method not in self._serves:
            raise PeerError(METHOD_NOT_FOUND, f"the client does not serve {call.method}")
        params = msgspec.json.decode(call.params, type=dict[str, Any])
        return await self._serves[call.method](params) or {}

    def notification(self, method: str, params: Raw) -> None:
        """Handle an update; ignore other notifications and unknown kinds of updates."""
        if method != "session/update":
            return
        try:
            told = salvage.decode(v1.SessionNotification, params)
        except msgspec.ValidationError:
            return
        if self._on_update is not None:
            self._on_update(told.session_id, told.update)
        else:
            self.updates_of(told.session_id).put(told.update)
