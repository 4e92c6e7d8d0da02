"""Find secrets that are encoded within a token, in base64, hexadecimal, escapes or percent-encoding.

Every decision depends on a single token, so text that arrives in pieces gives the same result as the whole.
"""

import binascii
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

MIN_ENCODED_CHARACTERS = 24
MIN_ESCAPES = 3
# Four characters encode three bytes; the first one determines whether the first byte can be printable.
_LETTER = r"[A-Za-z0-9+/_-]"
_BASE64 = re.compile(
    rf"(?<!{_LETTER})(?:[CDI-Za-f]{_LETTER}{{3}}){{6,}}{_LETTER}{{0,3}}={{0,2}}(?![A-Za-z0-9])"
)
_HEXADECIMAL = re.compile(r"(?<![\w+/-])(?:[2-7][0-9a-fA-F]|0[9aAdD]){16,}(?![\w+/-])")
_URL_PART = re.compile(r"[^?&=#;]+")
_ESCAPE = re.compile(
    r"\\{1,8}(?:u\{?(?P<u>[0-9a-fA-F]{4})\}?|x(?P<x>[0-9a-fA-F]{2})|U0000(?P<l>[0-9a-fA-F]{4})|(?P<o>[01][0-7]{2}))"
)
_UNPRINTED = re.compile(rb"[^\t\n\r\x20-\x7e]")
_FAST = str.maketrans("-_", "+/")

FoundSpan = tuple[int, int, str]
SecretFinder = Callable[[str], str]


def find_encoded_secret(text: str, start: int, end: int, look: SecretFinder) -> Iterator[FoundSpan]:
    """Yield the positions of secrets in a token's decoded forms; `look` returns the first secret's kind, or nothing."""
    if text.find("%", start, end) >= 0:
        yield from _in_percents(text, start, end, look)
    if text.find("\\", start, end) >= 0:
        yield from _in_escapes(text, start, end, look)
    for pattern, read in ((_BASE64, _from_base64), (_HEXADECIMAL, _from_hexadecimal)):
        for match in pattern.finditer(text, start, end):
            if (plain := read(match[0])) and (kind := look(plain)):
                yield *match.span(), kind


def _in_percents(text: str, start: int, end: int, look: SecretFinder) -> Iterator[FoundSpan]:
    for match in _URL_PART.finditer(text, start, end):
        part = match[0]
        if "%" in part and (kind := look(unquote_to_bytes(part).decode("utf-8", "replace"))):
            yield *match.span(), kind


def _in_escapes(text: str, start: int, end: int, look: SecretFinder) -> Iterator[FoundSpan]:
    token = text[start:end]
    plain, number = _ESCAPE.subn(_unescaped, token)
    if number >= MIN_ESCAPES and (kind := look(plain.replace("\0", ""))):
        yield start, end, kind


def _unescaped(escape: re.Match[str]) -> str:
    hexadecimal = escape["u"] or escape["x"] or escape["l"]
    return chr(int(hexadecimal, 16) if hexadecimal else int(escape["o"], 8))


def _from_base64(run: str) -> str:
    body = run.rstrip("=").translate(_FAST)
    try:
        return _printed(binascii.a2b_base64(body + "=" * (-len(body) % 4)))
    except binascii.Error:
        return ""


def _from_hexadecimal(run: str) -> str:
    return _printed(bytes.fromhex(run))


def _printed(data: bytes) -> str:
    return "" if _UNPRINTED.search(data) else data.decode("ascii")
