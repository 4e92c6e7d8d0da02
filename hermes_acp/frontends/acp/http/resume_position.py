"""Where in a stream its reader wants to go on.

Knows: the header Last-Event-ID. Does not know: what is kept of a stream.
"""

from starlette.datastructures import Headers

from hermes_acp.frontends.acp.http.request_admission import AdmissionRefusal
from hermes_acp.frontends.acp.messages import serving


def resume_position(headers: Headers) -> int | AdmissionRefusal | None:
    """Return the number of the last message that came through; None when the client does not say."""
    told = headers.get("last-event-id")
    if told is None or told == "":
        return None
    if not (told.isascii() and told.isdigit()) or len(told) > 15:
        return AdmissionRefusal(400, serving.BAD_POSITION)
    return int(told)
