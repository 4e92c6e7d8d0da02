"""Text written in another notation, found and read: base64, 32, 85, hexadecimal, escapes, numbers, Morse, braille.

Knows: notations, and that one may lie within another (to a bounded depth). Does not know: what the words mean.
Source: RFC 4648 (base16, 32, 64), RFC 2045 (quoted-printable), RFC 3986 (percent), HTML entities, ITU-R M.1677 (Morse).
"""

import re
import zlib
from base64 import a85decode, b32decode, b32hexdecode, b64decode, b85decode
from binascii import Error as BadEncoding
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from hermes_acp.knowledge.notations import (
    LONGEST_NUMBER,
    ROT13,
    Z85_TO_B85,
    find_rare,
    read_base36,
    read_base58,
    read_base62,
)

DEEPEST = 3
LONGEST = 32_000
LEAST_LETTERS = 24
LEAST_ESCAPES = 6
HEAD, LONG_BLOB = 40, 160
"""Of longer blobs so many letters are read first; whole bytes in every notation."""

BLOB = re.compile(r"={0,2}[A-Za-z0-9+/_-]{20,}={0,6}")
ARMOURED_85 = re.compile(r"<~[!-u\s]{20,}~>")
PUNCTUATED = re.compile(r"[!-~]{30}")
WINDOW = 64
ODD_SIGNS = frozenset("!#$%&()*+;<=>?@^_`{|}~")
WORD = re.compile(r"\S{20,}")
PATH = re.compile(r"[a-z][/_-][a-z]")
ESCAPE = re.compile(
    r"[\\&U%=0$c](?:(?<=\\)(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"
    r"|(0{2,4}[0-9a-fA-F]{2}(?![0-7])|[2-7][0-9a-fA-F](?= ?\\[2-7]| ?$)) ?"
    r"|([0-7]{3}))"
    r"|(?<=&)(?:#(?:[xX]([0-9a-fA-F]{1,6})|(\d{1,7}));?|[A-Za-z]{2,8};)|(?<=U)\+([0-9a-fA-F]{4,6}) ?|(?<=%)u?"
    r"([0-9a-fA-F]{2}(?<!u..)|[0-9a-fA-F]{4}(?<=u....))"
    r"|(?<==)([0-9A-F]{2})(?![0-9A-F])"
    r"|(?:(?<=0)(?<!\w0)x|(?<=\$)(?<!\w\$))([0-9a-fA-F]{2})\b[ ,]{0,2}"
    r"|(?<=c)(?<!\wc)hr\((\d{2,3})\)[ +.&]{0,3}|(?<=\\)N\{([A-Z][A-Z -]{2,40})\})"
)
BASES: MappingProxyType[int, int] = MappingProxyType({8: 10, 6: 8, 13: 10})
"""The groups of `ESCAPE` that are not hexadecimal."""

NAME_GROUP = 14
PIECE = re.compile(r"[A-Za-z0-9+/]{12,}")
ODD_PIECE = re.compile(r".{1,11}(?:[0-9+/]|[a-z][A-Z])")
PIECES = re.compile(
    r"[A-Za-z0-9+/]{12,76}(?:[\"'`,|>*#\s-]{1,10}(?:\+[\s\"'`]{1,6})?[A-Za-z0-9+/]{4,76}={0,2}){2,400}"
)
SOME_FOURS = re.compile(r" (?:[A-Za-z0-9+/]{4} ){6}")
FOURS = re.compile(
    r"[A-Za-z0-9+/](?<![A-Za-z0-9+/].)[A-Za-z0-9+/]{3} (?:[A-Za-z0-9+/]{4} ){6,4000}[A-Za-z0-9+/]{2,4}={0,2}"
)
BETWEEN_PIECES = re.compile(r"[\"'`,|>*#\s-]+(?:\+[\s\"'`]+)?")
EBCDIC = bytes((*range(0x81, 0x8A), *range(0x91, 0x9A), *range(0xA2, 0xAA), 0x40))
"""The blank and the small letters."""

CUT_OFF = 3
"""So many bytes of a letter may be there at the end without the rest of it."""

PACKED = (b"\x1f\x8b", b"\x78\x9c", b"\x78\xda", b"\x78\x01", b"\x78\x5e")
NUMBERS = re.compile(
    r"[0-9a-fA-F](?<![\w.].)[0-9a-fA-F]{1,7}[ ,:;|-]{1,2}(?:[0-9a-fA-F]{2,8}[ ,:;|-]{1,2}){10,}[0-9a-fA-F]{2,8}(?!\w)"
)
MORSE = re.compile(
    r"[.\-\u00b7\u2022\u2013\u2014\u2212_][.\-\u00b7\u2022\u2013\u2014\u2212_]{0,5}[ /|]{1,3}"
    r"(?:[.\-\u00b7\u2022\u2013\u2014\u2212_]{1,6}[ /|]{1,3}){10,}[.\-\u00b7\u2022\u2013\u2014\u2212_]{0,6}"
)
BRAILLE = re.compile("[\u2800-\u28ff][\u2800-\u28ff ]{11,}")
BRAILLE_LETTERS = (
    "\u2801\u2803\u2809\u2819\u2811\u280b\u281b\u2813\u280a\u281a\u2805\u2807\u280d"
    "\u281d\u2815\u280f\u281f\u2817\u280e\u281e\u2825\u2827\u283a\u282d\u283d\u2835"
)
BRAILLE_TABLE = str.maketrans(BRAILLE_LETTERS + "\u2800", "abcdefghijklmnopqrstuvwxyz ")
MORSE_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- ..--.. -..-. .--.-. ---... -....-"
)
MORSE_TABLE: MappingProxyType[str, str] = MappingProxyType(
    dict(zip(MORSE_SIGNS.split(), "abcdefghijklmnopqrstuvwxyz0123456789.,?/@:-", strict=True))
)
MORSE_SHAPES = str.maketrans("\u00b7\u2022\u2013\u2014\u2212_", "..----")


WITHOUT_BLANKS: Final = (
    "Polybius' square",
    "places in the alphabet",
    "Bacon's cipher",
    "upside down",
    "taps",
)
"""Notations that may leave out the blanks between words."""


class Variant(Struct, frozen=True):
    """A stretch of text (offsets) and what it says in plain letters; `how` names the notation."""

    start: int
    end: int
    text: str
    how: str


def find_encoded(text: str) -> Iterator[Variant]:
    """Give every stretch that is written in a notation and reads as text."""
    yield from _find_blobs(text)
    yield from _find_escapes(text)
    for pattern, read, how, signs in (
        (NUMBERS, read_numbers, "numbers", "0123456789"),
        (MORSE, read_morse, "Morse", (".-", "-.", "\u00b7", "\u2022", "\u2212", "._", "_.")),
        (BRAILLE, read_braille, "braille", "\u2801\u2811\u2815\u280a"),
    ):
        if not any(sign in text for sign in signs):
            continue
        for found in pattern.finditer(text):
            plain = read(found.group()[:LONGEST])
            if is_readable(plain):
                yield Variant(*found.span(), plain, how)
    for start, end, plain, how in find_rare(text):
        if is_readable(plain[:LONGEST], has_blanks=how not in WITHOUT_BLANKS):
            yield Variant(start, end, plain[:LONGEST], how)


def _find_blobs(text: str) -> Iterator[Variant]:
    last_end, last_blob = -1, ""
    start = 0
    for word in WORD.finditer(text):
        for found in BLOB.finditer(word.group()):
            start = word.start() + found.start()
            blob = found.group()[:LONGEST]
            if blob.islower() and PATH.search(blob):
                continue
            joined = last_blob and not text[last_end:start].strip(" \t\r\n>*#/`") and len(last_blob) < LONGEST
            plain = read_blob(last_blob + blob) if joined else ""
            plain = plain or read_blob(blob)
            if plain:
                yield Variant(start, word.start() + found.end(), plain, "base")
            last_end, last_blob = word.start() + found.end(), (last_blob + blob if joined else blob)
        if PUNCTUATED.search(word.group()[:WINDOW]) and "://" not in word.group():
            yield from _find_base85(word)
    yield from _join_pieces(_find_pieces(text))
    if SOME_FOURS.search(text):
        yield from _join_pieces(FOURS.finditer(text))
    if "<~" in text:
        for found in ARMOURED_85.finditer(text):
            if plain := read_base85(found.group()[:LONGEST]):
                yield Variant(*found.span(), plain, "base85")


def _find_pieces(text: str) -> Iterator[re.Match[str]]:
    """Find pieces that follow one another, the first of which looks like no word."""
    last = 0
    for first in PIECE.finditer(text):
        if first.start() < last or first.end() - first.start() > 76 or not ODD_PIECE.match(first.group()):
            continue
        if found := PIECES.match(text, first.start()):
            last = found.end()
            yield found


def _join_pieces(runs: Iterable[re.Match[str]]) -> Iterator[Variant]:
    for found in runs:
        if plain := read_blob(BETWEEN_PIECES.sub("", found.group())[:LONGEST]):
            yield Variant(*found.span(), plain, "base")


def _find_base85(word: re.Match[str]) -> Iterator[Variant]:
    blob = word.group()[:LONGEST]
    if plain := read_base85(blob):
        yield Variant(*word.span(), plain, "base85")


def _find_escapes(text: str) -> Iterator[Variant]:
    """Read lines with several escapes; what is not escaped in them stays."""
    spans: dict[tuple[int, int], int] = {}
    line = (0, -1)
    for found in ESCAPE.finditer(text):
        if found.start() > line[1]:
            begin = text.rfind("\n", max(0, found.start() - LONGEST), found.start()) + 1
            end = text.find("\n", found.start(), found.start() + LONGEST)
            line = (
                max(begin, found.start() - LONGEST),
                end if end >= 0 else min(len(text), found.start() + LONGEST),
            )
        spans[line] = spans.get(line, 0) + 1
    for (start, end), count in spans.items():
        if count >= LEAST_ESCAPES:
            plain = text[start:end]
            for _ in range(DEEPEST):
                plain, more = ESCAPE.subn(_read_escape, plain)
                if more < LEAST_ESCAPES:
                    break
            plain = unescape(plain).replace("\xa0", " ")
            if is_readable(plain):
                yield Variant(start, end, plain.replace("\0", " "), "escapes")


def _read_escape(found: re.Match[str]) -> str:
    if not found.lastindex:
        return unescape(found.group())
    group = found.lastindex
    if group == NAME_GROUP:
        from unicodedata import lookup

        try:
            return lookup(found[NAME_GROUP])
        except KeyError:
            return " "
    value = int(found.group(group), BASES.get(group, 16))
    return chr(value) if 0 < value < 0x110000 and not 0xD800 <= value < 0xE000 else " "


def read_blob(blob: str) -> str:
    """Read base64, base32, hexadecimal, binary or decimal digits, one within another; empty when it is none."""
    if blob[:1] == "+" and blob[-1:] == "-":
        blob = blob[1:-1]
    for _ in range(DEEPEST):
        found = ""
        for read in READERS:
            body = blob if read is read_reversed else blob.lstrip("=").removeprefix("0x")
            if len(body) > LONG_BLOB and not _may_be(read, body):
                continue
            raw = read(body)
            if raw is not None and (is_readable(raw) or BLOB.fullmatch(raw.strip())):
                found = raw
                break
        if not found:
            return ""
        if is_readable(found):
            return found
        blob = found
    return ""


def _may_be(read: Callable[[str], str | None], blob: str) -> bool:
    """Tell by the letters read first, few of them, whether a long blob may be in a notation."""
    if read in NUMBERED:
        return len(blob) <= LONGEST_NUMBER
    return read(blob[-HEAD:] if read is read_reversed else blob[:HEAD]) is not None


def read_hex(blob: str) -> str | None:
    """Read pairs of hexadecimal digits."""
    return _decoded(bytes.fromhex, blob) if len(blob) % 2 == 0 else None


def read_bits(blob: str) -> str | None:
    """Read eight binary digits a letter."""
    if blob.strip("01") or len(blob) % 8:
        return None
    return _decoded(lambda bits: int(bits, 2).to_bytes(len(bits) // 8, "big"), blob[:4096])


def read_base32(blob: str) -> str | None:
    """Read base32, whatever its padding."""
    body = blob.rstrip("=")
    return (
        _decoded(lambda plain: b32decode(plain + "=" * (-len(plain) % 8), casefold=True), body)
        if body.isupper() or body.islower()
        else None
    )


def read_base64(blob: str) -> str | None:
    """Read base64 in either alphabet, whatever its padding."""
    body = blob.rstrip("=").replace("-", "+").replace("_", "/")
    body = body[: len(body) - (len(body) % 4 == 1)]
    return _decoded(lambda plain: b64decode(plain + "=" * (-len(plain) % 4), validate=True), body)


def read_reversed(blob: str) -> str | None:
    """Read base64 that was written from its end to its begin."""
    return read_base64(blob[::-1]) if blob[:1] == "=" or len(blob) % 4 == 0 else None


def read_base32hex(blob: str) -> str | None:
    """Read base32 in the alphabet that keeps the order of what it stands for."""
    body = blob.rstrip("=").upper()
    return (
        _decoded(lambda plain: b32hexdecode(plain + "=" * (-len(plain) % 8)), body)
        if body.isalnum()
        else None
    )


def read_turned(blob: str) -> str | None:
    """Read base64 whose letters were moved by half the alphabet."""
    return read_base64(blob.translate(ROT13)) if len(blob) % 4 == 0 else None


NUMBERED: Final = (read_base58, read_base62, read_base36)
"""These read a blob as one number, so that its begin alone says nothing."""

READERS: Final = (
    *(read_hex, read_bits, read_base32, read_base64, *NUMBERED),
    *(read_base32hex, read_turned, read_reversed),
)


def z85decode(blob: str) -> bytes:
    """Decode base85 in the alphabet of ZeroMQ."""
    return b85decode(blob.translate(Z85_TO_B85))


def read_base85(blob: str) -> str:
    """Read Ascii85, base85 or Z85; empty when it is none."""
    if blob.startswith("<~"):
        plain = _decoded(a85decode, blob.removeprefix("<~").removesuffix("~>"))
        return plain if plain and is_readable(plain) else ""
    body = blob.strip("`'\"")
    if sum(sign in ODD_SIGNS for sign in body[:WINDOW]) * 12 < min(len(body), WINDOW) or body.islower():
        return ""
    for decode in (b85decode, a85decode, z85decode):
        plain = _decoded(decode, body)
        if plain and is_readable(plain):
            return plain
    return ""


def _decoded(decode: Callable[[str], bytes], blob: str) -> str | None:
    try:
        raw = decode(blob)
        if raw.startswith(PACKED):
            raw = zlib.decompressobj(47).decompress(raw, LONGEST)
        text = _text_of(raw)
    except (ValueError, BadEncoding, zlib.error, OverflowError):
        return None
    return text


def _text_of(raw: bytes) -> str:
    """Decode letters; the last may be cut off."""
    coding = _coding_of(raw)
    try:
        return raw.decode(coding)
    except UnicodeDecodeError as error:
        if error.start < len(raw) - CUT_OFF:
            raise
        return raw[: error.start].decode(coding)


def _coding_of(raw: bytes) -> str:
    """Name how letters are coded: a word and a blank of EBCDIC are hardly ever anything else."""
    if raw[1:8:2] == b"\0\0\0\0":
        return "utf-16-le"
    if raw[0:8:2] == b"\0\0\0\0":
        return "utf-16-be"
    return "cp037" if b"\x40" in raw[:24] and len(raw.translate(None, EBCDIC)) * 8 < len(raw) else "utf-8"


def read_numbers(run: str) -> str:
    """Read letters given as binary, decimal, octal or hexadecimal numbers."""
    parts = re.findall(r"[0-9a-fA-F]+", run)
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
    return ""


def read_morse(run: str) -> str:
    """Read Morse signs; a stroke or three blanks part words."""
    words = re.split(r" ?[/|] ?| {2,}", run.translate(MORSE_SHAPES).strip())
    return " ".join("".join(MORSE_TABLE.get(sign, "\0") for sign in word.split()) for word in words)


def read_braille(run: str) -> str:
    """Read braille letters."""
    return run.translate(BRAILLE_TABLE)


def is_readable(text: str, *, has_blanks: bool = True) -> bool:
    """Tell whether this reads as words rather than as bytes: printable, mostly letters, parted by blanks."""
    if len(text) < LEAST_LETTERS - 12 or not text.replace("\n", " ").replace("\t", " ").isprintable():
        return False
    letters = sum(map(str.isalpha, text[:400]))
    return letters >= 0.55 * len(text[:400]) and (not has_blanks or " " in text or "\n" in text)
