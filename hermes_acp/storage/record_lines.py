"""Checksums for the lines of a record: for each line, and for their order.

A line is `{"crc": N, "chain": M, "event": {…}}`: N is the CRC-32 of the bytes of the event, and M combines it with the
M of the line before. A lost, duplicated or moved line is therefore detected at the next one, except for the last line.
Records from before chains were introduced have lines without one, for which the checksum takes its place; the two kinds
of lines may be mixed. Lines with other fields come from a newer version.

The event's object ends with the field `at_ms`: when it was written, in milliseconds since the epoch. Earlier versions
neither write nor read it.
"""

import re
from binascii import crc32
from collections.abc import Iterator
from typing import Final

import msgspec

from hermes_acp.core.events import Event

MULTIPLIER: Final = 0x9E3779B1
"""An odd number, so that two different chains stay different after the same line."""
MAX_TIME_BYTES: Final = 40
_TIME = re.compile(rb'"at_ms":(\d{1,16})\}\}\n\Z')
"""Matches the end of a line. It has exactly two braces, so the field belongs to the event and not to a nested value."""


class _Summed(msgspec.Struct, gc=False):
    crc: int
    event: msgspec.Raw


class _Line(_Summed, gc=False, forbid_unknown_fields=True):
    chain: int | None = None


class ValidLines(msgspec.Struct):
    """The valid part of a record: its events, its size in bytes, and the chain value after it."""

    events: list[Event]
    size_bytes: int
    chain: int


def encode_line(event: bytes, before: int, at_ms: int) -> tuple[bytes, int]:
    """Return the line for an encoded event after the chain value `before`, and the new chain value."""
    return encode_untimed_line(b'%b,"at_ms":%d}' % (event[:-1], at_ms), before)


def encode_untimed_line(event: bytes, before: int) -> tuple[bytes, int]:
    """Return the line for an encoded event without a known time, and the new chain value."""
    crc = crc32(event)
    chain = before * MULTIPLIER & 0xFFFFFFFF ^ crc
    return b'{"crc":%d,"chain":%d,"event":%b}\n' % (crc, chain, event), chain


def decode_whole(content: bytes) -> ValidLines:
    """Return the valid part of a record, up to its first bad line."""
    whole_bytes = content.rfind(b"\n") + 1
    try:
        lines = msgspec.json.Decoder(_Line).decode_lines(memoryview(content)[:whole_bytes])
        if len(lines) == content.count(b"\n"):
            decode, chain = msgspec.json.Decoder(Event).decode, 0
            for line in lines:
                chain = _next(line, chain)
            return ValidLines([decode(line.event) for line in lines], whole_bytes, chain)
    except (msgspec.DecodeError, UnicodeDecodeError, _Broken):
        pass  # decoded line by line below, to find the bad one
    found = list(_decode(content, 0))
    _, size_bytes, chain = found[-1] if found else (None, 0, 0)
    return ValidLines([event for event, _, _ in found], size_bytes, chain)


def decode_timed(content: bytes) -> Iterator[tuple[Event, float | None]]:
    """Yield the events of a record in order, each with its time in seconds since the epoch, or None.

    Stop at the first bad line.
    """
    for event, end in decode_lines(content):
        yield event, time_before(content, end)


def time_before(content: bytes, end: int) -> float | None:
    """Return the time of the event whose line ends at `end`, in seconds since the epoch, or None."""
    found = _TIME.search(content, max(0, end - MAX_TIME_BYTES), end)
    return int(found[1]) / 1000 if found else None


def decode_lines(content: bytes, before: int | None = 0) -> Iterator[tuple[Event, int]]:
    """Yield the events of a record in order, each with the offset just after its line; stop at the first bad line.

    `before` is the chain value at the start of the content, or None if it is unknown.
    """
    for event, end, _ in _decode(content, before):
        yield event, end


def count_readable(content: bytes) -> int:
    """Count the lines that are valid individually, in any order."""
    return sum(1 for line in content.splitlines(keepends=True) for _ in _decode(line, None))


def is_foreign(line: bytes) -> bool:
    """Return whether a line is complete but in a format this version does not know."""
    try:
        read = msgspec.json.Decoder(_Summed).decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    if not line.endswith(b"\n") or crc32(read.event) != read.crc:
        return False
    return not count_readable(line)


class _Broken(Exception):
    """A line does not follow from the lines before it."""


def _next(line: _Line, before: int | None) -> int:
    """Return the chain value after a line. Raises _Broken if the line is damaged or out of place."""
    crc = line.crc
    if crc32(line.event) != crc:
        raise _Broken
    if line.chain is None:
        return crc
    if before is not None and before * MULTIPLIER & 0xFFFFFFFF ^ crc != line.chain:
        raise _Broken
    return line.chain


def _decode(content: bytes, before: int | None) -> Iterator[tuple[Event, int, int]]:
    decode_line = msgspec.json.Decoder(_Line).decode
    decode_event = msgspec.json.Decoder(Event).decode
    start = 0
    while (end := content.find(b"\n", start)) >= 0:
        try:
            line = decode_line(content[start:end])
            chain = _next(line, before)
            event = decode_event(line.event)
        except (msgspec.DecodeError, UnicodeDecodeError, _Broken):
            return
        start, before = end + 1, chain
        yield event, start, chain
