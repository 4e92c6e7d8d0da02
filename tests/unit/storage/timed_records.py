"""Records whose events have given times or, as in older versions, no times."""

import os
from binascii import crc32
from collections.abc import Iterable
from pathlib import Path

import msgspec

from hermes_acp.core.events import Event, SessionOpened, UserSaid
from hermes_acp.core.messages import TextPart
from hermes_acp.storage.record_lines import encode_line


def said(words: str) -> UserSaid:
    return UserSaid("m", (TextPart(words),))


def write_timed(home: Path, session_id: str, events: Iterable[tuple[Event, float]], cwd: str = "/p") -> Path:
    """Write a record; each event comes with its time in seconds since the epoch."""
    timed = list(events)
    opened = SessionOpened(session_id, cwd, (cwd,), timed[0][1])
    path = home / "sessions" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    chain, lines = 0, b""
    for event, at in ((opened, timed[0][1]), *timed):
        line, chain = encode_line(msgspec.json.encode(event), chain, int(at * 1000))
        lines += line
    path.write_bytes(lines)
    os.utime(path, (timed[-1][1], timed[-1][1]))
    return path


def write_untimed(home: Path, session_id: str, events: Iterable[Event], began: float, ended: float) -> Path:
    """Write a record without times, whose session started and ended at the given times."""
    path = home / "sessions" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = b""
    for event in (SessionOpened(session_id, "/p", ("/p",), began), *events):
        body = msgspec.json.encode(event)
        lines += b'{"crc":%d,"event":%b}\n' % (crc32(body), body)
    path.write_bytes(lines)
    os.utime(path, (ended, ended))
    return path
