"""Private keys in armour: lines of base64 behind a line that announces them.

Knows: how a block looks in a file, numbered, as a diff, inside a string. Does not know: whether the key is any good.
Source: RFC 7468 (textual encodings), RFC 4880 section 6.2 (ASCII armour), PROTOCOL.key of OpenSSH.
"""

import re

from msgspec import Struct

LABEL = "private key"
ANNOUNCED = b"-----BEGIN "
LONGEST_ANNOUNCEMENT = 80
LONGEST_BLOCK = 16 * 1024

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_IN_STRING = re.compile(r"(?:\\{1,4}[nr]|[A-Za-z0-9+/=]){32,}")
_EDGE = r"(?:[^\n]{0,256}[\s:|\"'`+>*#-])?"
_BODY = re.compile(rf"{_EDGE}(?P<body>[A-Za-z0-9+/]{{16,}}={{0,2}})(?:\\[nr])*[\"'`,;+\\ \t\r)]{{0,8}}\Z")
_LAST = re.compile(rf"{_EDGE}(?P<body>[A-Za-z0-9+/]{{1,80}}={{1,2}})(?:\\[nr])*[\"'`,;+\\ \t\r)]{{0,8}}\Z")
_BETWEEN = re.compile(r"[^\n]{0,256}?(?:Proc-Type|DEK-Info|Version|Comment|Hash): |[\s\d:|+>*#-]{0,40}\Z")
_FULL_LINE = 40


class Block(Struct, frozen=True):
    """Where a key's base64 stands, nowhere where `end` is `start`; `is_open` while more of it may come."""

    start: int
    end: int
    is_open: bool


def is_private_key(text: str) -> bool:
    """Tell whether a text holds the line that announces a private key."""
    return bool(_BEGIN.search(text))


def key_behind(text: str, place: int, *, is_final: bool) -> Block | None:
    """Follow the announcement at `place`; None where no private key is announced there."""
    begin = _BEGIN.match(text, place)
    if begin is None:
        return None
    behind = begin.end()
    if inside := _IN_STRING.match(text, behind, behind + LONGEST_BLOCK):
        return Block(behind, inside.end(), is_open=False)
    return _follow_lines(text, behind, is_final=is_final)


def _follow_lines(text: str, behind: int, *, is_final: bool) -> Block:
    limit = behind + LONGEST_BLOCK
    start = end = behind
    seen_characters = 0
    here = behind
    line_end = text.find("\n", here, limit)
    while True:
        # The first round only leaves the line of the announcement.
        here = len(text) if line_end < 0 else line_end + 1
        is_whole = line_end >= 0
        line_end = text.find("\n", here, limit)
        if not is_whole or (line_end < 0 and len(text) < limit and not is_final):
            is_open = not is_final and len(text) < limit
            return Block(start, end, is_open)
        line = text[here : min(len(text), limit) if line_end < 0 else line_end]
        body = _BODY.match(line)
        is_last = body is None
        if is_last and seen_characters >= _FULL_LINE:
            body = _LAST.match(line)
        if body:
            start = start if end > behind else here + body.start("body")
            end = here + body.end("body")
            seen_characters = len(body["body"])
        if (is_last and not _BETWEEN.match(line)) or (body and is_last) or line_end < 0:
            return Block(start, end, is_open=False)
