"""Sessions by their ids, and what is answered where there is none.

Knows: that the answer names the session. Does not know: what is done with one.
"""

from hermes_acp.core.errors import NotFound
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.sessions.session import Session
from hermes_protocol.errors import NOT_FOUND, PeerError


def open_session(desk: Desk, session_id: str) -> Session:
    """Give an open session. Raises PeerError."""
    try:
        return desk.session(session_id)
    except NotFound as error:
        raise unknown_session(error, session_id) from error


def unknown_session(error: NotFound, session_id: str) -> PeerError:
    """Give the answer to a call about a session there is not."""
    return PeerError(NOT_FOUND, error.sentence(), {"code": error.code, "sessionId": session_id})
