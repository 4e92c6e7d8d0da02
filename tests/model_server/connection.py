"""One client connection over HTTP/1.1."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio
import anyio.abc
import h11
import msgspec

from .delivery import Step, send_steps

_READ_SIZE_BYTES = 64 * 1024
_MAX_HEAD_BYTES = 256 * 1024
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, h11.RemoteProtocolError)


class HttpRequest(msgspec.Struct, frozen=True):
    """A complete request; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class ClientGoneError(Exception):
    """The client closed the connection before its answer was complete."""


class Connection:
    """Reads requests one by one and writes what the answerer yields."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_BYTES)
        self._is_cut = False

    async def serve(self, answer: Callable[[HttpRequest, Connection], Awaitable[None]]) -> None:
        """Answer requests until the client leaves or a fault ends the connection."""
        try:
            while (request := await self._read_request()) is not None:
                await answer(request, self)
                if self._is_cut or self._http.our_state is h11.MUST_CLOSE:
                    return
                self._http.start_next_cycle()
        except (*_GONE, ClientGoneError):
            return

    async def send_whole(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """Send a complete response."""
        fields = [*headers.items(), ("content-length", str(len(body)))]
        head = self._send(h11.Response(status_code=status, headers=fields))
        await self._stream.send(head + self._send(h11.Data(data=body)) + self._send(h11.EndOfMessage()))

    async def send_paced(self, headers: dict[str, str], steps: Sequence[Step], number: int) -> None:
        """Send a 200 response in chunks, following the steps.

        The steps contain framed chunks and bypass h11, which only sees the head and the end.
        """
        fields = [*headers.items(), ("transfer-encoding", "chunked")]
        await self._stream.send(self._send(h11.Response(status_code=200, headers=fields)))
        if await send_steps(steps, self._stream, number):
            await self._stream.send(self._send(h11.EndOfMessage()))
        else:
            self._is_cut = True

    async def run_watched(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work; if the client leaves first, stop it and raise ClientGoneError."""
        is_gone = False

        async def watch(scope: anyio.CancelScope) -> None:
            nonlocal is_gone
            try:
                while True:
                    self._http.receive_data(await self._stream.receive(_READ_SIZE_BYTES))
            except _GONE:
                is_gone = True
                scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, tasks.cancel_scope)
            try:
                await work()
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                is_gone = True
            tasks.cancel_scope.cancel()
        if is_gone:
            raise ClientGoneError

    def _send(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> bytes:
        return self._http.send(event) or b""

    async def _read_request(self) -> HttpRequest | None:
        head: h11.Request | None = None
        body: list[bytes] = []
        while True:
            match self._http.next_event():
                case h11.Request() as head:
                    pass
                case h11.Data(data=data):
                    body.append(bytes(data))
                case h11.EndOfMessage() if head is not None:
                    headers = {name.decode().lower(): value.decode("latin-1") for name, value in head.headers}
                    path = head.target.decode("ascii")
                    return HttpRequest(head.method.decode("ascii"), path, headers, b"".join(body))
                case h11.NEED_DATA:
                    self._http.receive_data(await self._stream.receive(_READ_SIZE_BYTES))
                case _:
                    return None
