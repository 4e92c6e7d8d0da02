"""Convert the ends of turns to stop reasons and error codes, the same in every protocol version."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import TurnEnded
from hermes_protocol.errors import AUTH_REQUIRED, INTERNAL_ERROR

StopReason = Literal["end_turn", "refusal", "max_tokens", "max_turn_requests", "cancelled"]
STOP_REASONS: Final[Mapping[ExitReason, StopReason | None]] = MappingProxyType(
    {
        "done": "end_turn",
        "refused": "refusal",
        "truncated": "max_tokens",
        "out_of_steps": "max_turn_requests",
        "out_of_tokens": "max_tokens",
        "out_of_money": "max_turn_requests",
        "out_of_time": "max_turn_requests",
        "cancelled": "cancelled",
        "denied": "end_turn",
        "input_required": "end_turn",
        "bad_calls": None,
        "looping": None,
        "empty": None,
        "model_trouble": None,
        "storage_trouble": None,
        "gave_up": None,
    }
)


def stop_reason_of(end: TurnEnded) -> str:
    """Return the stop reason for how a turn ended; `error` if it failed."""
    return STOP_REASONS[end.reason] or "error"


def failure_code(end: TurnEnded) -> int:
    """Return the error code for a turn that failed."""
    return AUTH_REQUIRED if end.error_code == "model_auth_failed" else INTERNAL_ERROR
