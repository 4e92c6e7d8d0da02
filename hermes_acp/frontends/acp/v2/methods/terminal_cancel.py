"""terminal/cancel: end the command in one terminal; its call then ends as one does whose command was killed."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v2.updates import command_of
from hermes_protocol import v2


def cancel_terminal(desk: Desk, params: v2.CancelTerminalRequest) -> v2.CancelTerminalResponse:
    """Accept it at once; the terminal's exit status tells of its end. Raises NotFound, BadRequest."""
    call = desk.session(params.session_id).running.find(params.terminal_id)
    if call is None or command_of(call.card) is None:
        raise BadRequest(f"No terminal {params.terminal_id[:80]!r} is running in this session.")
    call.stop(ends_as="failed")
    return v2.CancelTerminalResponse()


METHOD = Method(v2.CancelTerminalRequest, cancel_terminal)
