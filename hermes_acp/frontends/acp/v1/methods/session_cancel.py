"""session/cancel: stop what runs in a session; served in the order of reading, at once."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v1


def cancel(desk: Desk, params: v1.CancelNotification) -> None:
    """Stop the turn; nothing to stop is no mistake."""
    if session := desk.house.sessions.get(params.session_id):
        session.cancel()


METHOD = Method(v1.CancelNotification, cancel, is_notification=True)
