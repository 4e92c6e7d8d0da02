"""Delivery of an answer's bytes: pacing, gates and broken streams."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Sequence

import anyio
import anyio.abc
import msgspec

from .script import Hold, Reply, ScriptError
from .wire import Piece, number_ids

_JOINED_SIZE_BYTES = 64 * 1024


class Write(msgspec.Struct, frozen=True):
    """Framed bytes, one TCP write."""

    framed: bytes
    may_join: bool = True


class Pause(msgspec.Struct, frozen=True):
    """Wait for a given time."""

    seconds: float


class Cut(msgspec.Struct, frozen=True):
    """Write the start of a chunk and close the connection."""

    framed: bytes
    is_reset: bool


class Silence(msgspec.Struct, frozen=True):
    """Write nothing until the client leaves."""


class End(msgspec.Struct, frozen=True):
    """End the body normally."""


Step = Write | Pause | Hold | Cut | Silence | End


def frame(payload: bytes) -> bytes:
    """Return `payload` as one HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(payload), payload)


def plan_stream(pieces: Sequence[Piece], reply: Reply, stream_error: bytes) -> list[Step]:
    """Return the steps that send `pieces` with the pacing and faults of `reply`; adjacent writes are joined.

    Raises ScriptError if a fault or a hold waits for more deltas than there are.
    """
    _check_marks(sum(piece.is_delta for piece in pieces), reply)
    steps: list[Step] = [Pause(reply.first_delay_s)] if reply.first_delay_s else []
    sent = 0
    steps += _interrupt(sent, reply, pieces[0].payload, stream_error)
    for at, piece in enumerate(pieces):
        if _is_over(steps):
            break
        if piece.is_delta and reply.delay_s:
            steps.append(Pause(reply.delay_s))
        steps += _write(piece.payload, reply)
        if piece.is_delta:
            sent += 1
            steps += _interrupt(sent, reply, pieces[at + 1].payload, stream_error)
    return _join(steps if _is_over(steps) else [*steps, End()])


def plan_whole(body: bytes, reply: Reply) -> list[Step]:
    """Return the steps that send a body at once; cut and silence take effect in its middle."""
    steps: list[Step] = (
        [Pause(reply.first_delay_s + reply.delay_s)] if reply.first_delay_s + reply.delay_s else []
    )
    steps += [hold for hold in reply.holds if hold.after is not None]
    fault = reply.fault
    half = body[: len(body) // 2]
    if fault.malformed_after is not None:
        return [*steps, Write(frame(half)), End()]
    if fault.cut_after is not None:
        return [*steps, Cut(frame(body)[: len(half)], fault.reset)]
    if fault.silent_after is not None:
        return [*steps, Write(frame(half)), Silence()]
    if fault.end_after is not None:
        return [*steps, End()]
    return [*steps, *_write(body, reply), End()]


def is_fragmented(reply: Reply) -> bool:
    """Return whether events are cut into parts, so that IDs must be final before planning."""
    return reply.write_size_bytes is not None or reply.splits_utf8


async def send_steps(steps: Iterable[Step], stream: anyio.abc.SocketStream, number: int) -> bool:
    """Run the steps; return whether the body ended normally, so that the connection can be reused."""
    for step in steps:
        match step:
            case Write(framed):
                await stream.send(number_ids(framed, number))
            case Pause(seconds):
                await anyio.sleep(seconds)
            case Hold():
                await wait_at(step)
            case Cut(framed, is_reset):
                await stream.send(number_ids(framed, number))
                if is_reset:
                    _reset_on_close(stream)
                return False
            case Silence():
                await anyio.sleep_forever()
            case End():
                return True
    return True


async def wait_at(hold: Hold) -> None:
    """Signal that the hold is reached, then wait for its gate."""
    if hold.reached is not None:
        hold.reached.set()
    await hold.gate.wait()


def _check_marks(deltas: int, reply: Reply) -> None:
    fault = reply.fault
    marks = (fault.error_after, fault.cut_after, fault.silent_after, fault.end_after, fault.malformed_after)
    latest = max(
        (mark for mark in (*marks, *(hold.after for hold in reply.holds)) if mark is not None), default=0
    )
    if latest > deltas:
        raise ScriptError(f"something is to happen after {latest} deltas, but the reply has {deltas}")


def _interrupt(sent: int, reply: Reply, next_payload: bytes, stream_error: bytes) -> list[Step]:
    fault = reply.fault
    steps: list[Step] = [hold for hold in reply.holds if hold.after == sent]
    if fault.malformed_after == sent:
        steps.append(Write(frame(fault.malformed.encode())))
    if fault.error_after == sent:
        return [*steps, Write(frame(stream_error)), End()]
    if fault.cut_after == sent:
        framed = frame(next_payload)
        return [*steps, Cut(framed[: len(framed) // 2], fault.reset)]
    if fault.silent_after == sent:
        return [*steps, Silence()]
    if fault.end_after == sent:
        return [*steps, End()]
    return steps


def _is_over(steps: Sequence[Step]) -> bool:
    return bool(steps) and isinstance(steps[-1], (Cut, Silence, End))


def _write(payload: bytes, reply: Reply) -> list[Step]:
    if reply.splits_utf8:
        return [Write(frame(part), may_join=False) for part in _split_characters(payload)]
    if reply.write_size_bytes is not None:
        size = reply.write_size_bytes
        parts = [payload[start : start + size] for start in range(0, len(payload), size)]
        return [Write(frame(part), may_join=False) for part in parts]
    return [Write(frame(payload))]


def _split_characters(payload: bytes) -> list[bytes]:
    """Split after the first byte of each multi-byte character."""
    cuts = [at + 1 for at, byte in enumerate(payload) if byte >= 0xC0]
    parts = [payload[start:end] for start, end in zip([0, *cuts], [*cuts, len(payload)], strict=True)]
    # An empty chunk would end the body.
    return [part for part in parts if part]


def _join(steps: Sequence[Step]) -> list[Step]:
    joined: list[Step] = []
    waiting: list[bytes] = []
    size_bytes = 0
    for step in steps:
        if isinstance(step, Write) and step.may_join and size_bytes < _JOINED_SIZE_BYTES:
            waiting.append(step.framed)
            size_bytes += len(step.framed)
            continue
        if waiting:
            joined.append(Write(b"".join(waiting)))
        waiting, size_bytes = [], 0
        if isinstance(step, Write) and step.may_join:
            waiting, size_bytes = [step.framed], len(step.framed)
        else:
            joined.append(step)
    # A plan ends with Cut, Silence or End, so nothing remains to be sent here.
    return joined


def _reset_on_close(stream: anyio.abc.SocketStream) -> None:
    raw = stream.extra(anyio.abc.SocketAttribute.raw_socket)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
