"""Find and decode encoded text: runs of bytes (`encoded_blobs.py`), escapes, numbers, Morse, braille.

Source: RFC 2045 (quoted-printable), RFC 3986 (percent), HTML entities, ITU-R M.1677 (Morse).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from injection_scanner.decoding.character_map import IN, UNPARTED_SIGNS, CharacterMap
from injection_scanner.decoding.encoded_blobs import (
    BLOB,
    MAX_CHARS,
    MAX_DEPTH,
    WINDOW,
    is_readable,
    read_base85,
    read_blob,
)
from injection_scanner.decoding.letter_ciphers import find_letter_codes
from injection_scanner.decoding.morse import MORSE, read_morse
from injection_scanner.decoding.rare_encodings import find_rare_encodings
from injection_scanner.tables.lazy_patterns import compiled

MIN_ESCAPES = 6
OFTEN_WHOLE, RUN_END = 2_000, 200
BYTES = 8
"""The number of letters that are a whole number of bytes in every grouped encoding."""

ARMOURED_85: Final = r"<~[!-u\s]{20,}~>"
PUNCTUATED = re.compile(r"[!-~]{30}")
WORD = re.compile(r"\S{20,}")
MIN_WORD_CHARS: Final = 20
PATH = re.compile(r"[a-z][/_-][a-z]")
ANY_ESCAPE_SIGN: Final = r"[\\&U%=0$cC^\[]"
USUAL_ESCAPE_SIGNS: Final = "\\&%=$^["
RARE_ESCAPES: Final = (b"u+", b"0x", b"hr(")
"""Every match that starts with an unusual character contains one of these; the usual ones are letters and digits."""

ESCAPED: Final = (
    r"(?:(?<=\\)(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"
    r"|(0{2,4}[0-9a-fA-F]{2}(?![0-7])|[2-7][0-9a-fA-F](?= ?\\[2-7]| ?$)) ?"
    r"|([0-7]{3}))"
    r"|(?<=&)(?:#(?:[xX]([0-9a-fA-F]{1,6})|(\d{1,7}));?|[A-Za-z]{2,8};)|(?<=U)\+([0-9a-fA-F]{4,6}) ?|(?<=%)u?"
    r"([0-9a-fA-F]{2}(?<!u..)|[0-9a-fA-F]{4}(?<=u....))"
    r"|(?<==)([0-9A-F]{2})(?![0-9A-F])"
    r"|(?:(?<=0)(?<!\w0)x|(?<=\$)(?<!\w\$))([0-9a-fA-F]{2})\b[ ,]{0,2}"
    r"|(?<=[cC])(?<!\w.)[hH][rR]\((\d{2,3})\)[ +.&|]{0,4}|(?<=\\)N\{([A-Z][A-Z -]{2,40})\}"
    r"|(?<=\^)\^([0-9a-f]{2})|(?:(?<=\\)symbol\{|(?<=\[)char\])(\d{2,3})[}+]?|(?<=\\)o\{([0-7]{2,3})\})"
)
BASES: MappingProxyType[int, int] = MappingProxyType({8: 10, 6: 8, 13: 10, 16: 10, 17: 8})
"""The number bases of the groups of `ESCAPE` that are not hexadecimal."""

ESCAPE: Final = ANY_ESCAPE_SIGN + ESCAPED
USUAL_ESCAPE: Final = f"[{re.escape(USUAL_ESCAPE_SIGNS)}]{ESCAPED}"
NAME_GROUP = 14
PIECE_SIGNS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
MIN_PIECE_CHARS, MAX_PIECE_CHARS = 12, 76
ODD_PIECE = re.compile(r".{1,11}(?:[0-9+/]|[a-z][A-Z])")
PIECES: Final = (
    r"[A-Za-z0-9+/]{12,76}(?:[\"'`,|>*#\s-]{1,10}(?:\+[\s\"'`]{1,6})?[A-Za-z0-9+/]{4,76}={0,2}){2,400}"
)
SOME_FOURS: Final = b" " + (IN * 4 + b" ") * 6
FOURS: Final = (
    r"[A-Za-z0-9+/](?<![A-Za-z0-9+/].)[A-Za-z0-9+/]{3} (?:[A-Za-z0-9+/]{4} ){6,4000}[A-Za-z0-9+/]{2,4}={0,2}"
)
SOME_GROUPS: Final = b" ".join([IN * 8] * 4)
GROUPS: Final = r"[A-Z2-7]{8}(?<![\w].{8})(?: [A-Z2-7]{8}){3,800}(?: [A-Z2-7]{1,7}={0,6})?"
"""Matches base32 in groups of eight."""

GROUP_SIGNS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

BETWEEN_PIECES: Final = r"[\"'`,|>*#\s-]+(?:\+[\s\"'`]+)?"
NUMBERS: Final = (
    r"[0-9a-fA-F](?<![\w.].)(?:[oxOX](?<=0.))?[0-9a-fA-F]{1,39}h?[ ,:;|/.\n-]{1,3}"
    r"(?:(?:0[oxOX])?[0-9a-fA-F]{2,40}h?[ ,:;|/.\n-]{1,3}){10,}(?:0[oxOX])?[0-9a-fA-F]{2,40}h?(?!\w)"
)
NUMBER_SIGNS: Final = "0123456789abcdefABCDEFoxhOXH ,:;|/.\n-"
MIN_NUMBERS_CHARS: Final = 35
"""The minimum length of a match of `NUMBERS`."""

BRAILLE: Final = "[\u2800-\u28ff][\u2800-\u28ff ]{11,}"
BRAILLE_LETTERS = (
    "\u2801\u2803\u2809\u2819\u2811\u280b\u281b\u2813\u280a\u281a\u2805\u2807\u280d"
    "\u281d\u2815\u280f\u281f\u2817\u280e\u281e\u2825\u2827\u283a\u282d\u283d\u2835"
)
BRAILLE_TABLE = str.maketrans(BRAILLE_LETTERS + "\u2800", "abcdefghijklmnopqrstuvwxyz ")

WITHOUT_BLANKS: Final = (
    *("Polybius' square", "a square with letters", "a keypad"),
    "places in the alphabet",
    "Bacon's cipher",
    "upside down",
    "taps",
)
"""Encodings that may omit the blanks between words."""


class Variant(Struct, frozen=True):
    """A span of text, by offsets, and its decoded plain text; `how` names the encoding."""

    start: int
    end: int
    text: str
    how: str


def find_encoded(text: str) -> Iterator[Variant]:
    """Yield every span that is encoded and decodes to readable text."""
    signs = CharacterMap(text)
    yield from _find_blobs(text, signs)
    yield from _find_escapes(text, signs)
    if signs.has_run(NUMBER_SIGNS, MIN_NUMBERS_CHARS):
        yield from _find_runs(text, NUMBERS, read_numbers, "numbers")
    for pattern, read, how, marks in (
        (MORSE, read_morse, "Morse", (".-", "-.", "\u00b7", "\u2022", "\u2212", "._", "_.")),
        (BRAILLE, read_braille, "braille", "\u2801\u2811\u2815\u280a"),
    ):
        if any(map(text.__contains__, marks)):
            yield from _find_runs(text, pattern, read, how)
    for start, end, plain, how in chain(find_rare_encodings(text, signs), find_letter_codes(text, signs)):
        if is_readable(plain[:MAX_CHARS], has_blanks=how not in WITHOUT_BLANKS):
            yield Variant(start, end, plain[:MAX_CHARS], how)


def _find_runs(text: str, pattern: str, read: Callable[[str], str], how: str) -> Iterator[Variant]:
    for found in compiled(pattern).finditer(text):
        plain = read(found.group()[:MAX_CHARS])
        if is_readable(plain):
            yield Variant(*found.span(), plain, how)


def _find_words(text: str, signs: CharacterMap) -> Iterator[re.Match[str]]:
    """Find long runs without blanks."""
    for start, end in signs.runs_of(UNPARTED_SIGNS, MIN_WORD_CHARS):
        yield from WORD.finditer(text, start, end)


def _find_blobs(text: str, signs: CharacterMap) -> Iterator[Variant]:
    last_end, last_blob, whole = -1, "", 0
    for word in _find_words(text, signs):
        for found in BLOB.finditer(word.group()):
            start = word.start() + found.start()
            blob = found.group()[:MAX_CHARS]
            if blob.islower() and PATH.search(blob):
                continue
            joined = (
                last_blob and not text[last_end:start].strip(" \t\r\n>*#/`") and len(last_blob) < MAX_CHARS
            )
            ahead, whole = _read_again(last_blob, whole) if joined else ("", 0)
            plain = (read_blob(ahead + blob) if ahead else "") or read_blob(blob)
            if plain:
                yield Variant(start, word.start() + found.end(), plain, "base")
            last_end, last_blob = word.start() + found.end(), (last_blob + blob if joined else blob)
        if PUNCTUATED.search(word.group()[:WINDOW]) and "://" not in word.group():
            yield from _find_base85(word)
    yield from _join_pieces(_find_pieces(text, signs))
    if signs.has_shape(PIECE_SIGNS, SOME_FOURS):
        yield from _join_pieces(compiled(FOURS).finditer(text))
    if signs.has_shape(GROUP_SIGNS, SOME_GROUPS):
        yield from _join_pieces(compiled(GROUPS).finditer(text))
    if "<~" in text:
        for found in compiled(ARMOURED_85).finditer(text):
            if plain := read_base85(found.group()[:MAX_CHARS]):
                yield Variant(*found.span(), plain, "base85")


def _read_again(run: str, whole: int) -> tuple[str, int]:
    """Return the tail of a run of blobs to decode again, and the run's length at its last full decoding.

    The tail is the whole run while that is short or has grown by half since, so that the total cost is linear.
    """
    if len(run) <= OFTEN_WHOLE or len(run) * 2 >= whole * 3:
        return run, len(run)
    return run[(len(run) - RUN_END) // BYTES * BYTES :], whole


def _find_pieces(text: str, signs: CharacterMap) -> Iterator[re.Match[str]]:
    """Find consecutive chunks, the first of which does not look like a word."""
    last = 0
    for start, end in signs.runs_of(PIECE_SIGNS, MIN_PIECE_CHARS):
        if start < last or end - start > MAX_PIECE_CHARS or not ODD_PIECE.match(text, start, end):
            continue
        if found := compiled(PIECES).match(text, start):
            last = found.end()
            yield found


def _join_pieces(runs: Iterable[re.Match[str]]) -> Iterator[Variant]:
    for found in runs:
        if plain := read_blob(compiled(BETWEEN_PIECES).sub("", found.group())[:MAX_CHARS]):
            yield Variant(*found.span(), plain, "base")


def _find_base85(word: re.Match[str]) -> Iterator[Variant]:
    blob = word.group()[:MAX_CHARS]
    if plain := read_base85(blob):
        yield Variant(*word.span(), plain, "base85")


def _find_escapes(text: str, signs: CharacterMap) -> Iterator[Variant]:
    """Decode lines with several escapes, leaving unescaped text unchanged."""
    has_rare = any(map(signs.holds, RARE_ESCAPES))
    if not has_rare and signs.count(USUAL_ESCAPE_SIGNS) < MIN_ESCAPES:
        return
    spans: dict[tuple[int, int], int] = {}
    line = (0, -1)
    for found in compiled(ESCAPE if has_rare else USUAL_ESCAPE).finditer(text):
        if found.start() > line[1]:
            begin = text.rfind("\n", max(0, found.start() - MAX_CHARS), found.start()) + 1
            end = text.find("\n", found.start(), found.start() + MAX_CHARS)
            line = (
                max(begin, found.start() - MAX_CHARS),
                end if end >= 0 else min(len(text), found.start() + MAX_CHARS),
            )
        spans[line] = spans.get(line, 0) + 1
    for (start, end), count in spans.items():
        if count >= MIN_ESCAPES:
            plain = text[start:end]
            for _ in range(MAX_DEPTH):
                plain, more = compiled(ESCAPE).subn(_read_escape, plain)
                if more < MIN_ESCAPES:
                    break
            plain = _unescape(plain).replace("\xa0", " ")
            if is_readable(plain):
                yield Variant(start, end, plain.replace("\0", " "), "escapes")
            elif BLOB.fullmatch(plain.strip()) and (inner := read_blob(plain.strip())):
                yield Variant(start, end, inner, "base")


def _read_escape(found: re.Match[str]) -> str:
    if not found.lastindex:
        return _unescape(found.group())
    group = found.lastindex
    if group == NAME_GROUP:
        from unicodedata import lookup

        try:
            return lookup(found[NAME_GROUP])
        except KeyError:
            return " "
    value = int(found.group(group), BASES.get(group, 16))
    return chr(value) if 0 < value < 0x110000 and not 0xD800 <= value < 0xE000 else " "


def _unescape(text: str) -> str:
    from html import unescape

    is_mail_word = "=?" in text and "?q?" in text.casefold()
    return unescape(text.replace("_", " ") if is_mail_word else text)


def read_numbers(run: str) -> str:
    """Decode letters written as binary, decimal, octal or hexadecimal numbers."""
    parts = [part.removeprefix("0b") for part in re.findall(r"(?:0[oxOX])?([0-9a-fA-F]+)", run)]
    bases = (2,) if all(len(part) > 6 and not part.strip("01") for part in parts) else (10, 16, 8)
    for base in bases:
        try:
            values = [int(part, base) for part in parts]
        except ValueError:
            continue
        if all(9 <= value < 0x250 for value in values):
            plain = "".join(map(chr, values))
            if is_readable(plain):
                return plain
    groups = "".join(parts)
    if all(len(part) % 2 == 0 for part in parts) and len(groups) > 2 * len(parts):
        return bytes.fromhex(groups).decode("utf-8", "replace")
    return ""


def read_braille(run: str) -> str:
    """Decode braille letters, or the bytes that the dot patterns represent."""
    plain = run.translate(BRAILLE_TABLE)
    if is_readable(plain) or not "\u2801" <= max(run) <= "\u287f":
        return plain
    return "".join(chr(ord(sign) & 0xFF) for sign in run)
