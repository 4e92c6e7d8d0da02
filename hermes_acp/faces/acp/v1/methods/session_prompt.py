"""session/prompt: one turn, from the user's words to a stop reason."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.core.events import ExitReason, TurnEnded
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.v1.content import blocks_to_parts
from hermes_acp.faces.acp.v1.gate import EditorGate
from hermes_acp.faces.acp.v1.method import Method
from hermes_protocol import v1
from hermes_protocol.errors import AUTH_REQUIRED, INTERNAL_ERROR, PeerError

STOP_REASONS: Final[Mapping[ExitReason, v1.StopReason]] = MappingProxyType(
    {
        "done": "end_turn",
        "refused": "refusal",
        "truncated": "max_tokens",
        "out_of_steps": "max_turn_requests",
        "out_of_money": "max_turn_requests",
        "out_of_time": "max_turn_requests",
        "cancelled": "cancelled",
    }
)


async def prompt(desk: Desk, params: v1.PromptRequest) -> v1.PromptResponse:
    """Run the turn; a failed one is an error, never a stop reason. Raises NotFound, BadRequest, AuthRequired."""
    session = desk.session(params.session_id)
    parts = blocks_to_parts(params.prompt)
    end = await session.prompt(parts, EditorGate(desk.connection, session.id))
    desk.house.sessions.index_soon(session)
    stop_reason = STOP_REASONS.get(end.reason)
    if stop_reason is None:
        raise _error(end)
    return v1.PromptResponse(stop_reason=stop_reason)


def _error(end: TurnEnded) -> PeerError:
    code = AUTH_REQUIRED if end.error_code == "model_auth_failed" else INTERNAL_ERROR
    return PeerError(code, end.sentence, {"code": end.error_code})


METHOD = Method(v1.PromptRequest, prompt)
