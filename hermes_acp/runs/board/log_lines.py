"""Encode and decode the lines of a board's log: each is a JSON object with a checksum that reveals damage."""

from binascii import crc32
from collections.abc import Iterator
from typing import Final

import msgspec

from hermes_acp.core.ports.boards.card_events import CardEvent, LogEntry, UnknownEntry
from hermes_acp.core.ports.boards.cards import Actor


class _Line(msgspec.Struct, gc=False):
    crc: int
    entry: msgspec.Raw


class _Entry(msgspec.Struct, gc=False):
    number: int
    at: float
    by: Actor
    event: msgspec.Raw


_LINE: Final = msgspec.json.Decoder(_Line)
_ENTRY: Final = msgspec.json.Decoder(LogEntry)
_NEWER: Final = msgspec.json.Decoder(_Entry)


def encode_line(number: int, at: float, by: Actor, event: CardEvent) -> bytes:
    """Encode an entry as a line."""
    body = msgspec.json.encode(LogEntry(number, at, by, event))
    return b'{"crc":%d,"entry":%b}\n' % (crc32(body), body)


def decode_line(line: bytes | memoryview) -> LogEntry | None:
    """Return the entry in a line, or None if the line is damaged.

    An entry from a newer version is an `UnknownEntry`.
    """
    try:
        read = _LINE.decode(line)
        if crc32(read.entry) != read.crc:
            return None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    try:
        return _ENTRY.decode(read.entry)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _newer(read.entry)


def _newer(entry: msgspec.Raw) -> LogEntry | None:
    try:
        known = _NEWER.decode(entry)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return LogEntry(known.number, known.at, known.by, UnknownEntry())


def whole_lines(content: bytes) -> Iterator[tuple[memoryview, int]]:
    """Yield the complete lines, each with the offset at which the next one starts."""
    view, start = memoryview(content), 0
    while (end := content.find(b"\n", start)) >= 0:
        yield view[start : end + 1], end + 1
        start = end + 1
