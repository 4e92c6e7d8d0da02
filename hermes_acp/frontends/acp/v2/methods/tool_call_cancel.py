"""tool_call/cancel: stop one running call; the turn it belongs to goes on."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v2


def cancel_call(desk: Desk, params: v2.CancelToolCallRequest) -> v2.CancelToolCallResponse:
    """Accept it at once; the call's last update tells of its end. Raises NotFound, BadRequest."""
    call = desk.session(params.session_id).running.find(params.tool_call_id)
    if call is None:
        raise BadRequest(f"No call {params.tool_call_id[:80]!r} is running in this session.")
    call.stop()
    return v2.CancelToolCallResponse()


METHOD = Method(v2.CancelToolCallRequest, cancel_call, name="tool_call/cancel")
