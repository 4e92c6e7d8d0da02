"""Find armoured private keys: base64 lines after a BEGIN line, or before an END line.

Source: RFC 7468 (textual encodings), RFC 4880 section 6.2 (ASCII armour), PROTOCOL.key of OpenSSH.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from hermes_acp.lazy_pattern import LazyPattern

LABEL = "private key"
ANNOUNCED = b"-----BEGIN "
ENDED = b"-----END "
MAX_HEADER_CHARACTERS = 80
MAX_BLOCK_CHARACTERS = 16 * 1024

_BEGIN = LazyPattern(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = LazyPattern(r"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_OTHER = LazyPattern(r"-----(?:BEGIN|END) (?!(?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY)")
_KEY_FILE = LazyPattern(
    r"(?:\.(?:pem|key|p8|ppk)|\bid_(?:rsa|dsa|ecdsa|ed25519)[\w-]*)(?![\w.-])", re.IGNORECASE | re.ASCII
)
_IN_STRING = LazyPattern(r"(?:\\{1,4}[nr]|[A-Za-z0-9+/=]){32,}")
_EDGE = r"(?:[^\n]{0,256}[\s:|\"'`+>*#-])?"
_BODY = LazyPattern(rf"{_EDGE}(?P<body>[A-Za-z0-9+/]{{16,}}={{0,2}})(?:\\[nr])*[\"'`,;+\\ \t\r)]{{0,8}}\Z")
_LAST = LazyPattern(rf"{_EDGE}(?P<body>[A-Za-z0-9+/]{{1,80}}={{1,2}})(?:\\[nr])*[\"'`,;+\\ \t\r)]{{0,8}}\Z")
_MARGIN = r"(?:[^\s]{0,200}?[:|-])??[\s\d:|+>*#-]{0,40}?[\"'`]?"
_ABOVE = LazyPattern(
    rf"{_MARGIN}(?P<body>=[A-Za-z0-9+/]{{4}}|[A-Za-z0-9+/]{{1,80}}={{1,2}}|[A-Za-z0-9+/]{{16,}})"
    r"(?:\\[nr])*[\"'`,; \t\r]{0,8}\Z"
)
_BETWEEN = LazyPattern(r"[^\n]{0,256}?(?:Proc-Type|DEK-Info|Version|Comment|Hash): |[\s\d:|+>*#-]{0,40}\Z")
_FULL_LINE = 40
_MAX_LINE_CHARACTERS = 400
_SHORT_LINES = 2


class KeyBlock(Struct, frozen=True):
    """The position of a key's base64, empty if `end` is `start`; `is_open` says that more of it may follow."""

    start: int
    end: int
    is_open: bool


def is_private_key(text: str) -> bool:
    """Return whether a string contains the BEGIN line of a private key."""
    return bool(_BEGIN.compiled.search(text))


def key_after_header(text: str, place: int, *, is_final: bool) -> KeyBlock | None:
    """Find the key after the BEGIN line at `place`; None if no private key starts there."""
    begin = _BEGIN.compiled.match(text, place)
    if begin is None:
        return None
    behind = begin.end()
    if inside := _IN_STRING.compiled.match(text, behind, behind + MAX_BLOCK_CHARACTERS):
        return KeyBlock(behind, inside.end(), is_open=False)
    return _follow_lines(text, behind, is_final=is_final)


def key_before_footer(text: str, place: int) -> KeyBlock | None:
    """Find the key before the END line at `place`; None if no key ends there or none of it is present."""
    line_start = text.rfind("\n", 0, place) + 1
    is_ended = bool(_END.compiled.match(text, place)) and bool(re.fullmatch(_MARGIN, text[line_start:place]))
    return _lines_above(text, line_start) if is_ended else None


def trailing_key_start(text: str) -> int:
    """Return the start of the lines at the end of a string that are a key if an END line follows."""
    line_start = text.rfind("\n") + 1
    block = _lines_above(text, line_start) if len(text) - line_start <= _MAX_LINE_CHARACTERS else None
    return block.start if block else len(text)


def names_key_file(text: str) -> bool:
    """Return whether a string names a file whose name suggests a private key."""
    return bool(_KEY_FILE.compiled.search(text))


def key_lines(text: str) -> Iterator[KeyBlock]:
    """Yield the lines of keys in a string from a key file, wherever it was cut; certificate lines stay."""
    lines = [*text.splitlines(keepends=True), ""]
    here = start = end = 0
    above, has_full = "", False
    for line in lines:
        body = _ABOVE.compiled.match(line.rstrip("\r\n"))
        if body is None:
            if has_full and not _OTHER.compiled.search(above) and not _OTHER.compiled.search(line):
                yield KeyBlock(start, end, is_open=False)
            above, has_full, end = line, False, 0
        else:
            start = start if end else here + body.start("body")
            end = here + body.end("body")
            has_full = has_full or len(body["body"]) >= _FULL_LINE
        here += len(line)


def _lines_above(text: str, here: int) -> KeyBlock | None:
    """Return the base64 lines above the one at `here`: full ones, followed by at most two short ones."""
    limit = max(0, here - MAX_BLOCK_CHARACTERS)
    start = end = short_lines = 0
    has_full = False
    while here > limit:
        line_start = text.rfind("\n", limit, here - 1) + 1
        line = _ABOVE.compiled.match(text, line_start, here - 1)
        if line is None or line_start < limit or here - line_start > _MAX_LINE_CHARACTERS:
            break
        is_full = len(line["body"]) >= _FULL_LINE
        short_lines += not is_full
        if not is_full and (has_full or short_lines > _SHORT_LINES):
            break
        has_full = is_full
        start, end = line.start("body"), end or line.end("body")
        here = line_start
    is_last = end > start and text[end - 1] == "="
    return KeyBlock(start, end, is_open=False) if has_full or is_last else None


def _follow_lines(text: str, behind: int, *, is_final: bool) -> KeyBlock:
    limit = behind + MAX_BLOCK_CHARACTERS
    start = end = behind
    seen_characters = 0
    here = behind
    line_end = text.find("\n", here, limit)
    while True:
        # The first round only skips the header line.
        here = len(text) if line_end < 0 else line_end + 1
        is_whole = line_end >= 0
        line_end = text.find("\n", here, limit)
        if not is_whole or (line_end < 0 and len(text) < limit and not is_final):
            is_open = not is_final and len(text) < limit
            return KeyBlock(start, end, is_open)
        line = text[here : min(len(text), limit) if line_end < 0 else line_end]
        body = _BODY.compiled.match(line)
        is_last = body is None
        if is_last and seen_characters >= _FULL_LINE:
            body = _LAST.compiled.match(line)
        if body:
            start = start if end > behind else here + body.start("body")
            end = here + body.end("body")
            seen_characters = len(body["body"])
        if (is_last and not _BETWEEN.compiled.match(line)) or (body and is_last) or line_end < 0:
            return KeyBlock(start, end, is_open=False)
