"""session/prompt: add the user's prompt to the conversation; the turn continues after the answer."""

import anyio

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.error_replies import to_peer_error
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.request_traces import trace_parent_in
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.translation.prompt_parts import prompt_parts
from hermes_acp.frontends.acp.v2.audience import notify
from hermes_acp.frontends.acp.v2.prompt_watcher import PromptWatcher
from hermes_acp.frontends.acp.v2.updates import idle_by
from hermes_acp.sessions.session import Session
from hermes_protocol import v2
from hermes_protocol.errors import CANCELLED, INTERNAL_ERROR, PeerError


async def prompt(client: ClientConnection, params: v2.PromptRequest) -> v2.PromptResponse:
    """Answer once the conversation has the prompt. Raises SessionNotFound, BadRequest, AuthRequired or PeerError."""
    client.app.turn_tasks.admit()
    session = client.session(params.session_id)
    parts = await prompt_parts(params.prompt, client.app.voice_service)
    prompting = PromptWatcher(session, parts, trace_parent_in(params.meta))
    client.app.turn_tasks.start(session, lambda: _run_turn(client, session, prompting))
    try:
        await prompting.settled.wait()
    except anyio.get_cancelled_exc_class():
        if client.connection.is_open:
            prompting.cancel()
        raise
    if prompting.message_id:
        return v2.PromptResponse(message_id=prompting.message_id)
    if prompting.error:
        raise prompting.error
    if prompting.end and prompting.end.reason == "refused":
        raise PeerError(CANCELLED, prompting.end.sentence, {"code": "refused"})
    if prompting.end:
        raise PeerError(CANCELLED, errors.PROMPT_CANCELLED, {"code": "cancelled"})
    raise PeerError(INTERNAL_ERROR, errors.INTERNAL_ERROR, {"code": "bug"})


async def _run_turn(client: ClientConnection, session: Session, prompting: PromptWatcher) -> None:
    """Run the turn, and report a failure that its events do not show."""
    await prompting.run(session.clients)
    if not prompting.message_id and prompting.end and not session.record.open_turn:
        was_refused = prompting.end.reason == "refused"
        stop_reason = "refusal" if was_refused else "cancelled"
        notify(client, session.id, v2.SessionUpdateIdleStateUpdate(stop_reason=stop_reason))
    elif prompting.message_id and prompting.error:
        error = to_peer_error(prompting.error)
        notify(client, session.id, idle_by(error.code, error.message, error.data))


METHOD = Method(v2.PromptRequest, prompt)
