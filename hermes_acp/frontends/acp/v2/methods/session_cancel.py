"""session/cancel: stop the running turn; handled before the next message is read."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v2


def cancel(client: ClientConnection, params: v2.CancelSessionNotification) -> None:
    """Stop the running turn, if any; the session's state shows its end."""
    if session := client.app.sessions.get(params.session_id):
        session.cancel()


METHOD = Method(v2.CancelSessionNotification, cancel, is_notification=True)
