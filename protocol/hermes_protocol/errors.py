"""The errors that can occur between two peers.

Source: JSON-RPC 2.0 section 5.1; the Agent Client Protocol's own codes.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
CANCELLED: Final = -32800
AUTH_REQUIRED: Final = -32000
NOT_FOUND: Final = -32002
NAMES: Final[Mapping[int, str]] = MappingProxyType(
    {
        PARSE_ERROR: "parse_error",
        INVALID_REQUEST: "invalid_request",
        METHOD_NOT_FOUND: "no_such_method",
        INVALID_PARAMS: "bad_params",
        INTERNAL_ERROR: "internal_error",
        CANCELLED: "cancelled",
        AUTH_REQUIRED: "auth_required",
        NOT_FOUND: "not_found",
    }
)


def data_of(code: int) -> dict[str, object]:
    """Return the default data of an error: a stable name for its code."""
    return {"code": NAMES.get(code, "error")}


class PeerError(Exception):
    """An error reply. A handler raises it to send one, and a caller that receives one gets it raised.

    `data` is any value that msgspec can encode; None sends a stable name for the code, as `{"code": name}`.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class PeerGone(Exception):
    """The other side is gone, so nothing more can be sent and no reply will arrive."""
