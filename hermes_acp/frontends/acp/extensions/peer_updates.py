"""Tell clients attached with `session/attach` about each other: prompts, answers, ends of turns, departures.

The updates are defined in the RFD. Other clients do not get them, because they would not understand them.
"""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import Event, PermissionAnswered, TurnEnded, UserSaid
from hermes_acp.core.untrusted_text import plain
from hermes_acp.frontends.acp.connection.client_connection import MAX_NAME_LENGTH, ClientConnection
from hermes_acp.sessions.session import Session
from hermes_protocol import v1


class Peer(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A client as other clients see it."""

    client_id: str | UnsetType = UNSET
    name: str
    version: str | UnsetType = UNSET


class PermissionResolved(Struct, rename="camel", kw_only=True, tag_field="type", tag="permission_resolved"):
    """Another client answered a question."""

    tool_call_id: str
    chosen_option_id: PermissionAnswer
    resolved_by: Peer


class PromptReceived(Struct, rename="camel", kw_only=True, tag_field="type", tag="prompt_received"):
    """Another client sent a prompt. Its content blocks have the wire types of the protocol version."""

    message_id: str
    prompt: list[Any]
    sent_by: Peer | UnsetType = UNSET


class TurnComplete(Struct, rename="camel", kw_only=True, tag_field="type", tag="turn_complete"):
    """A turn that the client did not start has ended."""

    stop_reason: str


class ClientDisconnected(Struct, rename="camel", kw_only=True, tag_field="type", tag="client_disconnected"):
    """Another client has left the session."""

    client: Peer


PeerUpdate = PermissionResolved | PromptReceived | TurnComplete | ClientDisconnected


class PeerNotification(Struct, rename="camel", kw_only=True):
    """The parameters of a `session/update` about another client."""

    session_id: str
    update: PeerUpdate


def peer_of(connection: object) -> Peer:
    """Describe a connection to other clients."""
    if not isinstance(connection, ClientConnection):
        return Peer(name="client")
    greeted = connection.greeted
    told = greeted.client_info if isinstance(greeted, v1.InitializeRequest) else greeted and greeted.info
    version = plain(told.version, MAX_NAME_LENGTH) if told else UNSET
    return Peer(client_id=peer_id_of(connection), name=connection.name, version=version)


def peer_id_of(client: ClientConnection) -> str:
    """Return the ID by which others know a client; generate one if the client has chosen none."""
    client.peer_id = client.peer_id or client.app.ids.fresh("client")
    return client.peer_id


class PeerUpdates:
    """Informs a client about the other clients of a session."""

    def __init__(
        self, client: ClientConnection, session: Session, stop_reason: Callable[[TurnEnded], str]
    ) -> None:
        """Note the turn that is already running; its end is reported even if it occurs during the replay."""
        self._stop_reason = stop_reason
        self._client = client
        self._session = session
        self._awaited_turn = session.record.open_turn

    def sent_by_another(self, event: UserSaid) -> bool:
        """Return whether another client sent a prompt."""
        return self._session.clients.author_of(event) is not self._client

    def show(self, event: Event) -> None:
        """Report an answer from another client, and the end of a turn started by another client."""
        match event:
            case PermissionAnswered(by=by) if by and by != self._own_name():
                named = next((each for each in self._session.clients.attached if each.name == by), None)
                peer = peer_of(named.connection) if named else Peer(name=by)
                resolved = PermissionResolved(
                    tool_call_id=event.call_id, chosen_option_id=event.answer, resolved_by=peer
                )
                self._notify(resolved)
            case TurnEnded() if not self._session.clients.is_prompting(self._client):
                self._report_end(event)
            case _:
                pass

    def show_past(self, event: Event) -> None:
        """Report the end of a turn that was running when the client started to attach."""
        if isinstance(event, TurnEnded) and event.turn_id == self._awaited_turn:
            self._report_end(event)

    def report_prompt(self, event: UserSaid, blocks: list[Any]) -> None:
        """Report a prompt from another client."""
        author = self._session.clients.author_of(event)
        sent_by = UNSET if author is None else peer_of(author)
        self._notify(PromptReceived(message_id=event.message_id, prompt=blocks, sent_by=sent_by))

    def report_departure(self, connection: object) -> None:
        """Report that a client has left."""
        self._notify(ClientDisconnected(client=peer_of(connection)))

    def _report_end(self, event: TurnEnded) -> None:
        self._awaited_turn = None
        self._notify(TurnComplete(stop_reason=self._stop_reason(event)))

    def _own_name(self) -> str:
        attached = self._session.clients.find(self._client)
        return attached.name if attached else ""

    def _notify(self, update: PeerUpdate) -> None:
        notification = PeerNotification(session_id=self._session.id, update=update)
        self._client.connection.notify("session/update", notification)
