"""Parse the position from which a client wants to resume a stream.

The client sends it in the Last-Event-ID header. A browser can neither set nor read headers of a WebSocket: its page
chooses the connection's ID and sends the position among the subprotocols.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from starlette.datastructures import Headers

from hermes_acp.frontends.acp.http.request_admission import AdmissionRefusal
from hermes_acp.frontends.acp.messages import serving

RESUME_PROTOCOL: Final = re.compile(r"acp-resume\.([0-9a-f]{32})\.([0-9]{1,15})\.([0-9]{1,15})")


class SocketPosition(Struct, frozen=True):
    """A page's position: it has received up to message `after`, and sends its own messages from number `first` on."""

    client_id: str
    after: int
    first: int

    @property
    def is_new(self) -> bool:
        """Whether nothing has been sent in either direction yet."""
        return self.after == 0 and self.first == 1


def socket_position(offered: Sequence[str]) -> SocketPosition | None:
    """Return the position that a WebSocket's subprotocols contain, or None."""
    for protocol in offered:
        if found := RESUME_PROTOCOL.fullmatch(protocol):
            return SocketPosition(found[1], int(found[2]), int(found[3]))
    return None


def resume_position(headers: Headers) -> int | AdmissionRefusal | None:
    """Return the number of the last message received, None if the header is missing, or a refusal if it is invalid."""
    value = headers.get("last-event-id")
    if value is None or value == "":
        return None
    if not (value.isascii() and value.isdigit()) or len(value) > 15:
        return AdmissionRefusal(400, serving.BAD_POSITION)
    return int(value)
