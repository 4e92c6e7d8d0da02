"""Decode unbroken runs of characters: base64, base32, base58, base85, hexadecimal or binary, compressed or not.

Source: RFC 4648 (base16, 32, 64), RFC 1950 and 1952 (zlib, gzip).
"""

import re
from base64 import a85decode, b64decode, b85decode
from binascii import Error as BadEncoding
from collections.abc import Callable
from typing import Final

from injection_scanner.decoding.rare_encodings import (
    MAX_NUMBER_CHARS,
    ROT13,
    Z85_TO_B85,
    read_base36,
    read_base58,
    read_base62,
)

MAX_DEPTH = 3
MAX_CHARS = 32_000
MIN_LETTERS = 12
MIN_SIGNS = 20
"""The number of printable bytes that do not occur by chance."""

MAX_MEMORY_BYTES = 16_000_000
HEAD, LONG_BLOB = 40, 160
"""The number of letters of longer blobs that are decoded first; they are whole bytes in every encoding."""

BLOB = re.compile(r"={0,2}[A-Za-z0-9+/_-]{20,}={0,6}")
WINDOW = 64
SIGNS_91: Final = (
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&()*+,./:;<=>?@[]^_`{|}~"'
)
ODD_SIGNS = frozenset("!#$%&()*+;<=>?@^_`{|}~")
FIVES: Final = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz2345670189+/-_",
    "0123456789abcdefghijklmnop0123456789abcdefghijklmnopqrstuv********",
)
"""Maps base32 digits to Python's digits, and all other characters to invalid ones."""

EBCDIC = bytes((*range(0x81, 0x8A), *range(0x91, 0x9A), *range(0xA2, 0xAA), 0x40))
"""The blank and the lower-case letters."""

CUT_OFF = 3
"""The maximum number of trailing bytes of an incomplete character."""

PACKED = (b"\x1f\x8b", b"\x78\x9c", b"\x78\xda", b"\x78\x01", b"\x78\x5e", b"BZh", b"\xfd7zXZ")


def read_blob(blob: str) -> str:
    """Decode nested base64, base32, hexadecimal, binary or decimal digits; return an empty string for other text.

    The result may be in yet another encoding, which the caller must detect.
    """
    if blob[:1] == "+" and blob[-1:] == "-":
        blob = blob[1:-1]
    for _ in range(MAX_DEPTH):
        found = signs = ""
        for read in READERS:
            body = blob if read is read_reversed else blob.lstrip("=").removeprefix("0x")
            if len(body) > LONG_BLOB and not _may_be(read, body):
                continue
            raw = read(body)
            if raw is not None and (is_readable(raw) or BLOB.fullmatch(raw.strip())):
                found = raw
                break
            if raw and len(raw) >= MIN_SIGNS and raw.isascii() and raw.isprintable():
                signs = signs or raw
        if not found:
            return signs
        if is_readable(found):
            return found
        blob = found
    return ""


def _may_be(read: Callable[[str], str | None], blob: str) -> bool:
    """Return whether a long blob may be in an encoding, judging by its first few letters."""
    if read in NUMBERED:
        return len(blob) <= MAX_NUMBER_CHARS
    return read(blob[-HEAD:] if read is read_reversed else blob[:HEAD]) is not None


def read_hex(blob: str) -> str | None:
    """Decode pairs of hexadecimal digits."""
    return _decoded(bytes.fromhex, blob) if len(blob) % 2 == 0 else None


def read_bits(blob: str) -> str | None:
    """Decode eight binary digits per letter."""
    if blob.strip("01") or len(blob) % 8:
        return None
    return _decoded(lambda bits: int(bits, 2).to_bytes(len(bits) // 8, "big"), blob[:4096])


def read_base32(blob: str) -> str | None:
    """Decode base32, regardless of its padding."""
    body = blob.rstrip("=")
    if not (body.isupper() or body.islower()):
        return None
    return _decoded(_of_fives, body.translate(FIVES))


def read_base64(blob: str) -> str | None:
    """Decode base64 in either alphabet, regardless of its padding."""
    body = blob.rstrip("=").replace("-", "+").replace("_", "/")
    body = body[: len(body) - (len(body) % 4 == 1)]
    return _decoded(lambda plain: b64decode(plain + "=" * (-len(plain) % 4), validate=True), body)


def read_reversed(blob: str) -> str | None:
    """Decode reversed hexadecimal or base64."""
    if plain := read_hex(blob[::-1]):
        return plain
    return read_base64(blob[::-1]) if blob[:1] == "=" or len(blob) % 4 == 0 else None


def read_base32hex(blob: str) -> str | None:
    """Decode base32 in the alphabet that preserves sort order."""
    body = blob.rstrip("=")
    return _decoded(_of_fives, body) if body.isalnum() else None


def _of_fives(digits: str) -> bytes:
    """Return the bytes of five-bit digits from 0 to v. Raises ValueError for other digits and for incomplete bytes.

    Decoding them as one number takes a tenth of the time of the standard library's loop.
    """
    if len(digits) % 8 in (1, 3, 6):
        raise ValueError("incomplete bytes")
    bits = 5 * len(digits)
    return (int(digits, 32) >> bits % 8).to_bytes(bits // 8, "big")


def read_rotated(blob: str) -> str | None:
    """Decode base64 whose letters were rotated by half the alphabet."""
    return read_base64(blob.translate(ROT13)) if len(blob) % 4 == 0 else None


NUMBERED: Final = (read_base58, read_base62, read_base36)
"""The decoders that read a blob as one number, so that its start alone is not enough."""


def _in_alphabet(letters: str) -> Callable[[str], str | None]:
    """Return a decoder for base32 with another alphabet, in either case."""
    table = str.maketrans(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    return lambda blob: (
        read_base32(blob.lower().translate(table)) if blob.islower() or blob.isupper() else None
    )


def read_case_swapped(blob: str) -> str | None:
    """Decode base64 whose upper and lower case were swapped."""
    return read_base64(blob.swapcase()) if len(blob) % 4 == 0 else None


READERS: Final = (
    *(read_hex, read_bits, read_base32, read_base64, *NUMBERED),
    *(read_base32hex, read_rotated, read_reversed, read_case_swapped),
    *(_in_alphabet("0123456789abcdefghjkmnpqrstvwxyz"), _in_alphabet("ybndrfg8ejkmcpqxot1uwisza345h769")),
)
"""The last two are Crockford's base32 and z-base-32."""


def z85decode(blob: str) -> bytes:
    """Decode base85 in the alphabet of ZeroMQ."""
    return b85decode(blob.translate(Z85_TO_B85))


def b91decode(blob: str) -> bytes:
    """Decode basE91: two characters hold thirteen or fourteen bits. Raises ValueError for other characters."""
    raw = bytearray()
    bits = held = 0
    for at in range(0, len(blob) - 1, 2):
        value = SIGNS_91.index(blob[at]) + SIGNS_91.index(blob[at + 1]) * 91
        bits |= value << held
        held += 13 if value & 8191 > 88 else 14
        while held > 7:
            raw.append(bits & 255)
            bits >>= 8
            held -= 8
        if at == HEAD and not raw.isascii():
            raise ValueError("no text")
    if len(blob) % 2:
        raw.append((bits | SIGNS_91.index(blob[-1]) << held) & 255)
    return bytes(raw)


def read_base85(blob: str) -> str:
    """Decode Ascii85, base85 or Z85; return an empty string for other text."""
    if blob.startswith("<~"):
        plain = _decoded(a85decode, blob.removeprefix("<~").removesuffix("~>"))
        return plain if plain and is_readable(plain) else ""
    body = blob.strip("`'\"")
    if sum(sign in ODD_SIGNS for sign in body[:WINDOW]) * 12 < min(len(body), WINDOW) or body.islower():
        return ""
    for decode in (b85decode, a85decode, z85decode, b91decode):
        plain = _decoded(decode, body)
        if plain and is_readable(plain):
            return plain
        if plain and BLOB.fullmatch(plain) and (inner := read_blob(plain)):
            return inner
    return ""


def _decoded(decode: Callable[[str], bytes], blob: str) -> str | None:
    try:
        raw = decode(blob)
        if raw.startswith(PACKED):
            raw = _unpack(raw)
        text = _text_of(raw)
    except (ValueError, BadEncoding, OverflowError):
        return None
    return text


def _unpack(raw: bytes) -> bytes:
    """Decompress zlib, gzip, bzip2 or xz data. Raises ValueError for anything else."""
    import zlib

    try:
        if raw.startswith(b"BZh"):
            from bz2 import BZ2Decompressor

            return BZ2Decompressor().decompress(raw, MAX_CHARS)
        if raw.startswith(b"\xfd7zXZ"):
            from lzma import LZMADecompressor

            return LZMADecompressor(memlimit=MAX_MEMORY_BYTES).decompress(raw, MAX_CHARS)
        return zlib.decompressobj(47).decompress(raw, MAX_CHARS)
    except (zlib.error, OSError, EOFError, MemoryError) as error:
        raise ValueError(str(error)) from error


def _text_of(raw: bytes) -> str:
    """Decode text whose last character may be incomplete."""
    coding = _coding_of(raw)
    try:
        return raw.decode(coding)
    except UnicodeDecodeError as error:
        if error.start < len(raw) - CUT_OFF:
            raise
        return raw[: error.start].decode(coding)


def _coding_of(raw: bytes) -> str:
    """Return the text encoding. A word and a space in EBCDIC hardly ever occur in other data."""
    if raw[1:8:2] == b"\0\0\0\0":
        return "utf-16-le"
    if raw[0:8:2] == b"\0\0\0\0":
        return "utf-16-be"
    return "cp037" if b"\x40" in raw[:24] and len(raw.translate(None, EBCDIC)) * 8 < len(raw) else "utf-8"


def is_readable(text: str, *, has_blanks: bool = True) -> bool:
    """Return whether a text consists of words rather than bytes: printable, mostly letters, separated by blanks."""
    if len(text) < MIN_LETTERS or not text.replace("\n", " ").replace("\t", " ").isprintable():
        return False
    letters = sum(map(str.isalpha, text[:400]))
    return letters >= 0.55 * len(text[:400]) and (not has_blanks or " " in text or "\n" in text)
