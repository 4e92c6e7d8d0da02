"""Fuzz the reader, the envelope, the salvage and a live connection with a million corrupted frames.

Run: python -m bench.fuzz_frames [--frames 1000000] [--seed 1]

Nothing may raise an undocumented exception or hang, memory must stay flat, and the connection must still answer after
every thousand frames.
"""

import argparse
import faulthandler
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.lowlevel
import msgspec
from msgspec import Raw

from bench.spoiled_frames import Spoiler
from hermes_protocol import envelope, salvage
from hermes_protocol.connection import Connection, IncomingRequest, Limits
from hermes_protocol.envelope import Malformed, Reply, Request
from hermes_protocol.errors import INVALID_PARAMS, METHOD_NOT_FOUND, PeerError
from hermes_protocol.framing import BadHeader, LineReader, TooLong
from hermes_protocol.methods import METHODS
from hermes_protocol.transport import MemoryTransport, memory_pair

BATCH: Final = 1000
CALLS_A_BATCH: Final = 4
MAX_FRAME_BYTES: Final = 1 << 17
HANG_S: Final = 120
MAX_GROWTH_MIB: Final = 16.0


def judge(frame: bytes) -> str:
    """Classify one frame and decode its contents; return its kind. Raises on anything unexpected."""
    message = envelope.classify(frame)
    if isinstance(message, Malformed):
        reply = msgspec.json.decode(message.encode())
        if reply["error"]["code"] != message.code or "result" in reply:
            raise RuntimeError(f"a bad error reply: {reply}")
        return f"malformed: {message.message}"
    if isinstance(message, Reply):
        if isinstance(message.outcome, Raw):
            decode_or_refuse(METHODS["fs/read_text_file"].result, message.outcome)
        return "reply"
    method = METHODS.get(message.method)
    if method is None:
        return "a method nobody knows"
    fits = decode_or_refuse(method.params, message.params)
    kind = "request" if isinstance(message, Request) else "notification"
    return f"{kind}, {'decoded' if fits else 'refused'}"


def decode_or_refuse(shape: Any, data: Raw) -> bool:
    """Decode with salvage; return False on either of the two documented errors."""
    try:
        salvage.decode(shape, data)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return False
    return True


def fuzz_parts(spoiler: Spoiler, frames: int) -> Counter[str]:
    """Send corrupted frames through reader, envelope and salvage; return the number of results of each kind."""
    reader = LineReader(MAX_FRAME_BYTES)
    kinds: Counter[str] = Counter()
    for _ in range(frames):
        data = spoiler.spoil()
        for frame in reader.feed(data + b"\n"):
            if isinstance(frame, TooLong | BadHeader):
                kinds["too long"] += 1
                continue
            try:
                kinds[judge(frame)] += 1
            except Exception as error:
                raise RuntimeError(f"{type(error).__name__} on {frame[:500]!r}") from error
    return kinds


class Decoding:
    """A handler that decodes parameters with the method's types, as an agent does."""

    def __init__(self) -> None:
        self.bugs: list[BaseException] = []

    async def request(self, call: IncomingRequest) -> object:
        if call.method == "probe":
            return call.params
        method = METHODS.get(call.method)
        if method is None:
            raise PeerError(METHOD_NOT_FOUND, "no such method")
        if not decode_or_refuse(method.params, call.params):
            raise PeerError(INVALID_PARAMS, "the parameters do not fit")
        await anyio.lowlevel.checkpoint()
        return {}

    def notification(self, method: str, params: Raw) -> Awaitable[None] | None:
        known = METHODS.get(method)
        if known and decode_or_refuse(known.params, params) and method == "session/cancel":
            return anyio.lowlevel.checkpoint()
        return None

    def take_bug(self, error: BaseException, trace: str) -> None:
        self.bugs.append(error)


class FarEnd:
    """Sends corrupted batches to a connection and reads everything that comes back."""

    def __init__(self, transport: MemoryTransport) -> None:
        self.transport = transport
        self.answers = 0
        self.our_calls: list[object] = []
        self._reader = LineReader()
        self._probe = ""
        self._is_answered = anyio.Event()

    async def read(self) -> None:
        while data := await self.transport.receive():
            for frame in self._reader.feed(data):
                message: Any = json.loads(frame) if isinstance(frame, bytes) else {}
                if message.get("jsonrpc") != "2.0":
                    raise RuntimeError(f"no frame of the protocol came back: {frame!r}")
                if message.get("method") == "ask":
                    self.our_calls.append(message["id"])
                self.answers += "method" not in message
                if message.get("id") == self._probe:
                    self._is_answered.set()

    async def send_batch(self, spoiler: Spoiler, frames: int, name: str) -> None:
        """Send the frames, then a valid request; return once that is answered."""
        self._probe, self._is_answered = name, anyio.Event()
        batch = b"".join(spoiler.spoil() + b"\n" for _ in range(frames))
        for piece in spoiler.split(batch):
            await self.transport.send(piece)
        await self.transport.send(b"\n" + envelope.encode_request(name, "probe", {}))
        await self._is_answered.wait()

    async def answer_calls(self) -> None:
        """Answer every call that the connection made, except those that a corrupted reply has already ended."""
        calls, self.our_calls = self.our_calls, []
        for call_id in calls:
            if isinstance(call_id, int):
                await self.transport.send(envelope.encode_result(call_id, {}))


async def fuzz_connection(spoiler: Spoiler, frames: int) -> int:
    """Send corrupted frames to a live connection that makes its own calls; return the number of responses."""
    near, far = memory_pair()
    handler, end = Decoding(), FarEnd(far)
    connection = Connection(
        near, handler, on_bug=handler.take_bug, limits=Limits(max_frame_bytes=MAX_FRAME_BYTES)
    )

    async def ask() -> None:
        try:
            await connection.request("ask", {}, Raw)
        except PeerError:
            return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        tasks.start_soon(end.read)
        for start in range(0, frames, BATCH):
            with anyio.fail_after(HANG_S):
                async with anyio.create_task_group() as calls:
                    for _ in range(CALLS_A_BATCH):
                        calls.start_soon(ask)
                    await end.send_batch(spoiler, min(BATCH, frames - start), f"probe {start}")
                    await end.answer_calls()
        connection.close_soon()
    if handler.bugs:
        raise RuntimeError(f"{len(handler.bugs)} unexpected exceptions") from handler.bugs[0]
    return end.answers


def read_resident_mib() -> float:
    """Return the current resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def watch() -> None:
    """End the process with a stack trace unless called again in time, even when native code hangs."""
    faulthandler.dump_traceback_later(HANG_S, exit=True)


def main(frames: int, seed: int) -> None:
    spoiler = Spoiler(seed)
    kinds = fuzz_parts(spoiler, 5 * BATCH)
    anyio.run(fuzz_connection, spoiler, 5 * BATCH)
    start_mib, kinds, answers = read_resident_mib(), Counter[str](), 0
    parts_s = live_s = 0.0
    slice_frames = 20 * BATCH
    for start in range(0, frames, slice_frames):
        count = min(slice_frames, frames - start)
        watch()
        started_at_s = time.perf_counter()
        kinds += fuzz_parts(spoiler, count)
        parts_s += time.perf_counter() - started_at_s
        watch()
        started_at_s = time.perf_counter()
        answers += anyio.run(fuzz_connection, spoiler, count)
        live_s += time.perf_counter() - started_at_s
    faulthandler.cancel_dump_traceback_later()
    end_mib = read_resident_mib()
    print(
        f"{frames:,} corrupted frames through reader, envelope and salvage: {frames / parts_s:,.0f} a second"
    )
    for kind, count in kinds.most_common():
        print(f"  {count:9,} {kind}")
    print(f"{frames:,} through live connections: {frames / live_s:,.0f} a second, {answers:,} answers")
    print(f"memory {start_mib:.1f} MiB at the start, {end_mib:.1f} MiB at the end; no crash, no hang")
    if end_mib - start_mib > MAX_GROWTH_MIB:
        sys.exit("memory is not flat")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fuzz the peer with corrupted frames.")
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    main(options.frames, options.seed)
