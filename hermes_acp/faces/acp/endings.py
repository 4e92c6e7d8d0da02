"""How the end of a turn is told on the wire, whatever the version.

Knows: stop reasons, and the code of an end that is a failure. Does not know: which message carries them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from hermes_acp.core.events import ExitReason, TurnEnded
from hermes_protocol.errors import AUTH_REQUIRED, INTERNAL_ERROR

StopReason = Literal["end_turn", "refusal", "max_tokens", "max_turn_requests", "cancelled"]
STOP_REASONS: Final[Mapping[ExitReason, StopReason]] = MappingProxyType(
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


def failure_code(end: TurnEnded) -> int:
    """Give the error code of an end that has no stop reason."""
    return AUTH_REQUIRED if end.error_code == "model_auth_failed" else INTERNAL_ERROR
