"""terminal/cancel: end the command in one terminal; its call ends as failed."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.v2.updates import command_of
from hermes_protocol import v2


def cancel_terminal(client: ClientConnection, params: v2.CancelTerminalRequest) -> v2.CancelTerminalResponse:
    """Answer at once; the terminal's exit status shows the end. Raises SessionNotFound or BadRequest."""
    call = client.session(params.session_id).running.find(params.terminal_id)
    if call is None or command_of(call.card) is None:
        raise BadRequest(errors.no_running_terminal(params.terminal_id))
    call.stop(ends_as="failed")
    return v2.CancelTerminalResponse()


METHOD = Method(v2.CancelTerminalRequest, cancel_terminal)
