"""Read request bodies, with limits on each body and on all of them together."""

import anyio
from starlette.requests import ClientDisconnect, Request

from hermes_acp.frontends.acp.http.request_admission import AdmissionRefusal
from hermes_acp.frontends.acp.messages import serving
from hermes_protocol.framing import DEFAULT_MAX_FRAME_BYTES


class BodyRefused(Exception):
    """A request body was not read to its end; the refusal says why."""

    def __init__(self, refusal: AdmissionRefusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class BodyReader:
    """Reads request bodies, limiting the memory that all bodies in progress use together."""

    def __init__(self, limit_bytes: int, body_s: float) -> None:
        self._limit_bytes = limit_bytes
        self._body_s = body_s
        self._held_bytes = 0

    async def read(self, request: Request) -> bytes:
        """Return the whole body. Raises BodyRefused or ClientDisconnect."""
        announced = request.headers.get("content-length", "0")
        if not announced.isdigit() or int(announced) > DEFAULT_MAX_FRAME_BYTES:
            raise BodyRefused(self._too_long())
        pieces: list[bytes] = []
        size_bytes = 0
        try:
            with anyio.fail_after(self._body_s):
                async for piece in request.stream():
                    size_bytes += len(piece)
                    self._held_bytes += len(piece)
                    if size_bytes > DEFAULT_MAX_FRAME_BYTES:
                        raise BodyRefused(self._too_long())
                    if self._held_bytes > self._limit_bytes:
                        raise BodyRefused(AdmissionRefusal(503, serving.TOO_MANY_BODIES))
                    pieces.append(piece)
        except TimeoutError:
            raise BodyRefused(AdmissionRefusal(408, serving.body_too_slow(self._body_s))) from None
        finally:
            self._held_bytes -= size_bytes
        return b"".join(pieces)

    def _too_long(self) -> AdmissionRefusal:
        return AdmissionRefusal(413, serving.body_too_long(DEFAULT_MAX_FRAME_BYTES))


async def drain(request: Request) -> bool:
    """Discard the rest of the body; return whether the client is still connected."""
    try:
        async for _ in Request(request.scope, request.receive).stream():
            pass
    except ClientDisconnect:
        return False
    return True
