"""session/prompt: run one turn, from the user's prompt to a stop reason."""

from anyio import CancelScope

from hermes_acp.agent.turn.commissions import Commission
from hermes_acp.core.events import TurnEnded
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.meta_extensions import own_meta
from hermes_acp.frontends.acp.extensions.request_traces import trace_parent_in
from hermes_acp.frontends.acp.translation.prompt_parts import prompt_parts
from hermes_acp.frontends.acp.translation.stop_reasons import STOP_REASONS, failure_code
from hermes_protocol import v1
from hermes_protocol.errors import PeerError


async def prompt(client: ClientConnection, params: v1.PromptRequest) -> v1.PromptResponse:
    """Run the turn; a failure is reported as an error, never as a stop reason.

    Raises SessionNotFound, BadRequest or AuthRequired.
    """
    session = client.session(params.session_id)
    parts = await prompt_parts(params.prompt, client.app.voice_service)
    steers = own_meta(params.meta).get("steers") is True
    commission = Commission(trace_parent=trace_parent_in(params.meta))

    async def turn(place: CancelScope) -> TurnEnded:
        with session.clients.prompting(parts, client):
            return await session.prompt(parts, session.clients, place, steers=steers, commission=commission)

    end = await client.app.turn_tasks.wait_for(
        session, turn, is_client_gone=lambda: not client.connection.is_open
    )
    stop_reason = STOP_REASONS.get(end.reason)
    if stop_reason is None:
        raise _error(end)
    return v1.PromptResponse(
        stop_reason=stop_reason, usage=_usage(end) if client.offers_unstable else v1.UNSET
    )


def _usage(end: TurnEnded) -> v1.Usage:
    used = end.usage
    return v1.Usage(
        total_tokens=used.total_tokens,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_read_tokens=used.cached_tokens,
    )


def _error(end: TurnEnded) -> PeerError:
    return PeerError(failure_code(end), end.sentence, {"code": end.error_code})


METHOD = Method(v1.PromptRequest, prompt)
