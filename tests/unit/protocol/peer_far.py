"""The far end of the connection under test: it sends what the state machine chooses, and reads when allowed to."""

import json
from itertools import count
from typing import Any

import anyio
from peer_ledger import REFUSAL, Id, Ledger

from hermes_protocol.connection import CANCEL_REQUEST
from hermes_protocol.errors import INTERNAL_ERROR, INVALID_REQUEST, PeerGone
from hermes_protocol.framing import LineReader
from hermes_protocol.transport import MemoryTransport

PIECE_BYTES = 128
REPLIES: dict[str, object] = {
    "result": "result", "error": REFUSAL, "shape": INTERNAL_ERROR,
    "both": INVALID_REQUEST, "no version": INVALID_REQUEST,
}  # fmt: skip


class FarSide:
    """Sends messages whole, in pieces or delayed; reports everything sent and received to the ledger."""

    def __init__(self, transport: MemoryTransport, ledger: Ledger) -> None:
        self.transport = transport
        self.ledger = ledger
        self.is_holding = False
        self.is_input_ended = False
        self.moves = 0
        self._tokens = count(1)
        self._held = b""
        self._to_write: list[bytes] = []
        self._writes = anyio.Event()
        self._may_read = anyio.Event()
        self._may_read.set()

    def say(self, message: Any, piece_bytes: int) -> None:
        """Send a message in pieces, now or with other held data."""
        self._held += json.dumps(message).encode() + b"\n"
        if not self.is_holding:
            self.flush(piece_bytes)

    def flush(self, piece_bytes: int) -> None:
        """Send held data; a piece that is cut off may follow much later."""
        if self.is_input_ended:
            return
        self._to_write += [
            self._held[start : start + piece_bytes] for start in range(0, len(self._held), piece_bytes)
        ]
        self._held = b""
        self._writes.set()

    def flush_part(self, size_bytes: int) -> None:
        """Send the start of the held data."""
        if self.is_input_ended:
            return
        self._to_write.append(self._held[:size_bytes])
        self._held = self._held[size_bytes:]
        self._writes.set()

    def say_request(self, call_id: Id, method: str, piece_bytes: int) -> None:
        token = next(self._tokens)
        if not self.is_input_ended:
            self.ledger.say_request(call_id, token)
        params = {"token": token}
        self.say({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}, piece_bytes)

    def say_cancel(self, call_id: Id, piece_bytes: int) -> None:
        if not self.is_input_ended:
            self.ledger.say_cancel(call_id)
        self.say({"jsonrpc": "2.0", "method": CANCEL_REQUEST, "params": {"requestId": call_id}}, piece_bytes)

    def say_note(self, method: str, piece_bytes: int) -> None:
        self.say({"jsonrpc": "2.0", "method": method, "params": {"n": self.ledger.notes_said}}, piece_bytes)
        self.ledger.notes_said += not self.is_input_ended

    def say_junk(self, message: Any, piece_bytes: int) -> None:
        """Send what must get one error with the ID null."""
        self.ledger.junk_said += 1
        self.say(message, piece_bytes)

    def say_reply(self, question_id: int, kind: str, piece_bytes: int) -> None:
        reply: dict[str, object] = {"jsonrpc": "2.0", "id": question_id}
        if kind in ("result", "both", "no version"):
            reply["result"] = f"to {self.ledger.questions.get(question_id)}"
        if kind in ("error", "both"):
            reply["error"] = {"code": REFUSAL, "message": "no"}
        if kind == "no version":
            del reply["jsonrpc"]
        if kind == "shape":
            reply["result"] = [1]
        self.ledger.say_reply(question_id, reply["result"] if kind == "result" else REPLIES[kind])
        self.say(reply, piece_bytes)

    def stop_reading(self) -> None:
        if self._may_read.is_set():
            self._may_read = anyio.Event()

    def resume_reading(self) -> None:
        self._may_read.set()

    async def end_input(self) -> None:
        """Send what there is to send, then no more."""
        self.is_holding = False
        self.flush(PIECE_BYTES)
        self.ledger.is_closing = self.is_input_ended = True
        self._writes.set()

    async def write(self) -> None:
        """Write messages until the end of input."""
        try:
            while self._to_write or not self.is_input_ended:
                self.moves += 1
                if self._to_write:
                    await self.transport.send(self._to_write.pop(0))
                else:
                    self._writes = anyio.Event()
                    await self._writes.wait()
            await self.transport.send_eof()
        except PeerGone:
            self.ledger.check(self.ledger.is_closing, "the connection closed by itself")

    async def read(self) -> None:
        """Read whenever the state machine allows it, and have the ledger check it."""
        reader = LineReader()
        while True:
            await self._may_read.wait()
            data = await self.transport.receive()
            self.moves += 1
            if not data:
                return
            for frame in reader.feed(data):
                self.ledger.hear(json.loads(frame) if isinstance(frame, bytes) else {})
