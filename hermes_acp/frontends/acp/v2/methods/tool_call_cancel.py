"""tool_call/cancel: stop one running call; its turn continues."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_protocol import v2


def cancel_call(client: ClientConnection, params: v2.CancelToolCallRequest) -> v2.CancelToolCallResponse:
    """Answer at once; the call's last update shows the end. Raises SessionNotFound or BadRequest."""
    call = client.session(params.session_id).running.find(params.tool_call_id)
    if call is None:
        raise BadRequest(errors.no_running_call(params.tool_call_id))
    call.stop()
    return v2.CancelToolCallResponse()


METHOD = Method(v2.CancelToolCallRequest, cancel_call, name="tool_call/cancel")
