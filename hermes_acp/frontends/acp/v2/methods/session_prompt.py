"""session/prompt: put the user's words into the conversation; the turn goes on after the answer."""

import anyio

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.handler import to_peer_error
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v2.audience import notify
from hermes_acp.faces.acp.v2.content import blocks_to_parts
from hermes_acp.faces.acp.v2.gate import EditorGate
from hermes_acp.faces.acp.v2.prompting import Prompting
from hermes_acp.faces.acp.v2.updates import idle_by
from hermes_acp.sessions.session import Session
from hermes_protocol import v2
from hermes_protocol.errors import CANCELLED, INTERNAL_ERROR, PeerError


async def prompt(desk: Desk, params: v2.PromptRequest) -> v2.PromptResponse:
    """Answer when the words are part of the conversation. Raises NotFound, BadRequest, AuthRequired, PeerError."""
    session = desk.session(params.session_id)
    prompting = Prompting(session, blocks_to_parts(params.prompt))
    desk.go_on(lambda: _see_through(desk, session, prompting))
    try:
        await prompting.settled.wait()
    except anyio.get_cancelled_exc_class():
        prompting.cancel()
        raise
    if prompting.message_id:
        return v2.PromptResponse(message_id=prompting.message_id)
    if prompting.error:
        raise prompting.error
    if prompting.end:
        raise PeerError(CANCELLED, "the prompt was cancelled before it was taken in", {"code": "cancelled"})
    raise PeerError(INTERNAL_ERROR, "internal error", {"code": "bug"})


async def _see_through(desk: Desk, session: Session, prompting: Prompting) -> None:
    """Run the turn, and tell of an end that the turn itself could not tell."""
    gate = EditorGate(desk, session.id)
    try:
        await prompting.run(gate)
    finally:
        gate.close()
    if not prompting.message_id and prompting.end and not session.record.open_turn:
        notify(desk, session.id, v2.SessionUpdateIdleStateUpdate(stop_reason="cancelled"))
    elif prompting.message_id and prompting.error:
        error = to_peer_error(prompting.error)
        notify(desk, session.id, idle_by(error.code, error.message, error.data))


METHOD = Method(v2.PromptRequest, prompt)
