"""Attach to an open session: `session/attach` and `session/detach` of an open RFD, in every version.

The RFD: Multi-Client Session Attach, pull request 533 of the Agent Client Protocol, as of March 2026.
"""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from msgspec import UNSET, Struct, UnsetType, field, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    Event,
    PermissionAnswered,
    PermissionAsked,
    TextSaid,
    UserSaid,
)
from hermes_acp.core.messages import words_in
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.extensions.client_role import checked_role, role_in
from hermes_acp.frontends.acp.extensions.peer_updates import Peer, peer_id_of, peer_of
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.sessions.clients.attached_clients import Role
from hermes_acp.sessions.clients.catch_up import CatchUp, ReplayAudience
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import OpenWorkspace, SessionHistory
from hermes_protocol.errors import PeerError

SESSION_NOT_FOUND: Final = -32001
"""The error code that the RFD defines."""
MAX_CLIENT_ID: Final = 128
HistoryPolicy = Literal["full", "pending_only", "none", "after_message"]


class AttachRequest(Struct, rename="camel", kw_only=True):
    """The parameters of `session/attach`; `role` is a field of the RFD's earlier drafts."""

    session_id: str
    history_policy: str = "full"
    after_message_id: str | None = None
    client_id: str | None = None
    role: str | None = None
    meta: dict[str, object] | UnsetType | None = field(default=UNSET, name="_meta")


class HistoryItem(Struct, rename="camel", kw_only=True):
    """One item of the history, for information only: open questions are asked again."""

    type: Literal["prompt", "permission_request"]
    content: str | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET
    status: Literal["pending", "resolved"] | UnsetType = UNSET


class AttachResult(Struct, rename="camel", kw_only=True):
    """The answer to `session/attach`."""

    session_id: str
    client_id: str
    role: Role
    history_policy: HistoryPolicy
    connected_clients: list[Peer]
    history: list[HistoryItem] | UnsetType = UNSET


class DetachRequest(Struct, rename="camel", kw_only=True):
    """The parameters of `session/detach`."""

    session_id: str


class DetachResult(Struct, rename="camel", kw_only=True):
    """The answer to `session/detach`."""

    session_id: str
    status: Literal["detached"] = "detached"


class SessionJoiner(Protocol):
    """The steps of attaching that depend on the protocol version."""

    def audience(self, client: ClientConnection, session: Session) -> ReplayAudience:
        """Return the object that sends the session's events to the client."""
        ...

    def join(self, client: ClientConnection, session: Session, role: Role) -> None:
        """Attach the client, which is sent open questions after the response."""
        ...

    def workspace_opener(self, client: ClientConnection) -> OpenWorkspace:
        """Return a function that opens a workspace for the client."""
        ...


async def attach_to_session(
    client: ClientConnection, params: AttachRequest, joining: SessionJoiner
) -> AttachResult:
    """Attach a client and replay the requested history. Raises BadRequest, or PeerError if the session is not open."""
    role = checked_role(params.role) if params.role is not None else role_in(params.meta)
    policy = _policy(params)
    session = _open_session(client, params.session_id)
    _name_client(client, params.client_id)
    others = [peer_of(each.connection) for each in session.clients.attached if each.connection is not client]
    with CatchUp(lambda found: joining.audience(client, found)) as catch_up:
        session, past = await client.app.sessions.load(
            session.id, None, joining.workspace_opener(client), None, catch_up.join, may_follow=True
        )
        policy, wanted = _wanted(past, policy, params.after_message_id)
        await catch_up.hear(wanted)
    joining.join(client, session, role)
    history = _history(past if policy == "pending_only" else wanted)
    if policy == "pending_only":
        history = [item for item in history if item.status == "pending"]
    return AttachResult(
        session_id=session.id,
        client_id=peer_id_of(client),
        role=role,
        history_policy=policy,
        connected_clients=others,
        history=UNSET if policy == "none" else history,
    )


async def detach_from_session(client: ClientConnection, params: DetachRequest) -> DetachResult:
    """Detach a client; running work continues. Raises PeerError if the client is not attached."""
    session = _open_session(client, params.session_id)
    if session.clients.find(client) is None:
        raise _not_found(params.session_id)
    await client.app.departures.leave(client, session.id)
    return DetachResult(session_id=params.session_id)


def _open_session(client: ClientConnection, session_id: str) -> Session:
    session = client.app.sessions.get(session_id)
    if session is None:
        raise _not_found(session_id)
    return session


def _not_found(session_id: str) -> PeerError:
    data = {"code": "session_not_found", "sessionId": session_id}
    return PeerError(SESSION_NOT_FOUND, errors.not_attachable(session_id), data)


def _policy(params: AttachRequest) -> HistoryPolicy:
    match params.history_policy:
        case "full" | "pending_only" | "none" as policy:
            return policy
        case "after_message" as policy:
            if not params.after_message_id:
                raise BadRequest(errors.NO_AFTER_MESSAGE)
            return policy
        case other:
            raise BadRequest(errors.unknown_history_policy(other), hint=errors.HISTORY_POLICIES_HINT)


def _name_client(client: ClientConnection, client_id: str | None) -> None:
    if client_id is None:
        return
    if not 0 < len(client_id) <= MAX_CLIENT_ID or not client_id.isprintable():
        raise BadRequest(errors.bad_client_id(MAX_CLIENT_ID))
    client.peer_id = client_id


def _wanted(
    past: SessionHistory, policy: HistoryPolicy, after: str | None
) -> tuple[HistoryPolicy, SessionHistory]:
    """Return the events to replay, and the policy that was applied: with an unknown message, everything is replayed."""
    if policy in ("pending_only", "none"):
        return policy, SessionHistory(_open_cards(past.events))
    if policy == "after_message":
        last = _last_of(past.events, after)
        if last is None:
            return "full", past
        return policy, structs.replace(past, events=past.events[last + 1 :])
    return policy, past


def _open_cards(events: Sequence[Event]) -> list[Event]:
    """Return the cards of calls that have not ended, because later questions and updates refer to them."""
    cards: dict[str, Event] = {}
    for event in events:
        if isinstance(event, CallProposed):
            cards[event.call_id] = event
        elif isinstance(event, CallEnded):
            cards.pop(event.call_id, None)
    return list(cards.values())


def _last_of(events: Sequence[Event], message_id: str | None) -> int | None:
    """Return the position of the last event of a message."""
    for at in range(len(events) - 1, -1, -1):
        event = events[at]
        if isinstance(event, UserSaid | TextSaid) and event.message_id == message_id:
            return at
    return None


def _history(past: SessionHistory) -> list[HistoryItem]:
    items: list[HistoryItem] = []
    asked: dict[str, HistoryItem] = {}
    for event in past.events:
        match event:
            case UserSaid(parts=parts):
                items.append(HistoryItem(type="prompt", content=words_in(parts)))
            case PermissionAsked(call_id=call_id):
                item = HistoryItem(type="permission_request", tool_call_id=call_id, status="pending")
                asked[call_id] = item
                items.append(item)
            case PermissionAnswered(call_id=call_id) if call_id in asked:
                asked.pop(call_id).status = "resolved"
            case _:
                pass
    return items
