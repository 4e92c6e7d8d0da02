"""Convert failures to JSON-RPC errors.

Each class of errors has a code; `data` contains the details.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.core.errors import (
    AuthRequired,
    BadRequest,
    ConfigError,
    HermesError,
    SessionNotFound,
    UserError,
)
from hermes_protocol.errors import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    NOT_FOUND,
    PeerError,
)

CODES: Final[Mapping[type[HermesError], int]] = MappingProxyType(
    {
        AuthRequired: AUTH_REQUIRED,
        SessionNotFound: NOT_FOUND,
        ConfigError: INTERNAL_ERROR,
        BadRequest: INVALID_PARAMS,
        UserError: INVALID_REQUEST,
    }
)


def to_peer_error(error: HermesError) -> PeerError:
    """Convert an error to its JSON-RPC error reply."""
    code = next((code for family, code in CODES.items() if isinstance(error, family)), INTERNAL_ERROR)
    data: dict[str, object] = {"code": error.code}
    if isinstance(error, SessionNotFound):
        data["sessionId"] = error.session_id
    if error.retryable:
        data["retryable"] = True
    return PeerError(code, error.sentence(), data)
