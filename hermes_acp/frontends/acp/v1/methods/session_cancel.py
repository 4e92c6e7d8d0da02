"""session/cancel: stop the running turn; handled before the next message is read."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


def cancel(client: ClientConnection, params: v1.CancelNotification) -> None:
    """Stop the turn; do nothing if none is running."""
    if session := client.app.sessions.get(params.session_id):
        session.cancel()


METHOD = Method(v1.CancelNotification, cancel, is_notification=True)
