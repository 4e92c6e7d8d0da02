"""Decide which methods a client may call on a session that several clients share.

A method declares the access it needs: `any` for any connected client, `view` for attached clients, `control` for
attached controllers, `alone` for a controller while no other client is attached. A session without clients is open
to everyone.
"""

from typing import Literal

from hermes_acp.core.errors import BadRequest, Busy
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.messages import errors

Access = Literal["any", "view", "control", "alone"]


def check_access(client: ClientConnection, access: Access, params: object) -> None:
    """Check a request about a session. Raises Busy if only other clients may act in it, BadRequest for an observer."""
    session_id = getattr(params, "session_id", None)
    if access == "any" or not isinstance(session_id, str):
        return
    session = client.app.sessions.get(session_id)
    if session is None or not session.clients:
        return
    attached = session.clients.find(client)
    if attached is None:
        raise Busy(errors.open_elsewhere(session_id), hint=errors.ATTACH_HINT)
    if access != "view" and attached.role == "observer":
        raise BadRequest(errors.OBSERVERS_ONLY_WATCH, hint=errors.OBSERVER_HINT)
    if access == "alone" and len(session.clients) > 1:
        raise Busy(errors.open_elsewhere(session_id), hint=errors.BUSY_ELSEWHERE_HINT)
