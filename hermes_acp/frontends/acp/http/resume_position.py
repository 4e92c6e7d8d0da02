"""The position from which a client wants to resume a stream.

The client sends it in the Last-Event-ID header.
"""

from starlette.datastructures import Headers

from hermes_acp.frontends.acp.http.request_admission import AdmissionRefusal
from hermes_acp.frontends.acp.messages import serving


def resume_position(headers: Headers) -> int | AdmissionRefusal | None:
    """Return the number of the last message received, or None if the client does not say."""
    value = headers.get("last-event-id")
    if value is None or value == "":
        return None
    if not (value.isascii() and value.isdigit()) or len(value) > 15:
        return AdmissionRefusal(400, serving.BAD_POSITION)
    return int(value)
