"""Decode rare encodings: base58, uuencode, alphabet positions, squares, Bacon's cipher, ROT47, upside-down letters.

Every decoder is either linear or limited to `MAX_NUMBER_CHARS` letters. Source: POSIX uuencode; Bacon 1623 (De
augmentis); ROT47 over the printable characters of ASCII; draft-msporny-base58.
"""

import re
from binascii import Error as BadEncoding
from binascii import a2b_uu
from collections.abc import Iterator
from typing import Final

from injection_scanner.decoding.character_map import BEYOND, CharacterMap
from injection_scanner.tables.lazy_patterns import compiled
from injection_scanner.text.non_ascii import non_ascii_characters

MAX_NUMBER_CHARS: Final = 600
AT_ONCE: Final = 10
"""The maximum number of letters that are decoded as one number, which keeps computing fast."""

FIRST_BYTES: Final = 4
NOT_ASCII: Final = 0x80808080
MAX_LINES: Final = 400
SMALL: Final = "abcdefghijklmnopqrstuvwxyz"
DIGITS: Final = "0123456789"
BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BASE62: Final = DIGITS + SMALL.upper() + SMALL
BASE45: Final = DIGITS + SMALL.upper() + " $%*+-./:"
ROTATED: Final = SMALL[13:] + SMALL[:13]
ROT13: Final = str.maketrans(SMALL + SMALL.upper(), ROTATED + ROTATED.upper())
Z85: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
B85: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
Z85_TO_B85: Final = str.maketrans(Z85, B85)
PRINTABLE: Final = "".join(map(chr, range(33, 127)))
ROT47: Final = str.maketrans(PRINTABLE, PRINTABLE[47:] + PRINTABLE[:47])
ROT47_WORDS: Final = ("E96", "2?5", "J@F", "7@C", "E@", "7:=6", "7C@>", "2==", "DJDE6>", ":?DECF4E:@?D")
UPSIDE_DOWN: Final = str.maketrans(
    "\u0250q\u0254p\u01dd\u025f\u0183\u0265\u1d09\u027e\u029el\u026fuod\u0253\u0279s\u0287n\u028c\u028dx\u028ez\u0131\u0253\u0253b\u02d9",
    "abcdefghijklmnopgrstuvwxyziggq.",
)
FLIPPED: Final = (
    "[\u0250\u0254\u01dd\u025f\u0183\u0265\u1d09\u027e\u029e\u026f\u0279\u0287\u028c\u028d\u028e]"
)
MIN_FLIPPED_CHARS: Final = 6
COMMON_FLIPPED: Final = "\u01dd\u0250\u0279\u0265"
"""The letters e, a, r and h, upside down."""

UU: Final = r"(?m)^begin [0-7]{3,4} \S[^\n]{0,80}\n((?:[!-`][ -`]{0,84}\n){1,400})"
BARE_UU: Final = r"M(?m:(?<=^M))[ -`]{60}\n(?:M[ -`]{60}\n){0,399}(?m:^[!-L][ -`]{4,60}$)?"
SQUARE: Final = r"[1-5](?<![\w.].)[1-5][ ,-](?:[1-5]{2}[ ,-]){14,}[1-5]{2}(?![\w.])"
SQUARE_LETTERS: Final = "abcdefghiklmnopqrstuvwxyz"
PLACES: Final = r"\d(?<![\w.].)\d?(?: ?[ ,./|-] ?| / )(?:\d{1,2}(?: ?[ ,./|-] ?| / )){14,}\d{1,2}(?![\w.])"
PLACE_SIGNS: Final = f"{DIGITS} ,./|-{BEYOND}"
"""The characters in `PLACES` and `SQUARE`, which include digits beyond ASCII."""

MIN_POSITION_CHARS: Final = 31
"""The minimum length of a match of either pattern."""

BACON: Final = r"[ABab](?<!\w.)[ABab]{4}[ ,]?(?:[ABab]{5}[ ,]?){11,}"
SAID_BITS: Final = r"[zZoO](?<!\w.)(?:[eE][rR][oO]|[nN][eE])[ ,]{1,2}(?i:(?:zero|one)[ ,]{1,2}){47,}"
BLANKS: Final = r"(?m)(?<![ \t])[ \t]*(?: \t|\t )[ \t]*(?=\.?$)"
TAPS: Final = r"\.(?<![^\s`].)\.{0,4} \.{1,5}(?: {1,3}[/|]? ?\.{1,5} \.{1,5}){11,}(?![.\w])"
TAP_LETTERS: Final = "abcdefghijlmnopqrstuvwxyz"
IN_45: Final = r"[0-9A-Z$%*+./:-](?<![^\s`].)[0-9A-Z $%*+./:-]{30,}"
MIN_BASE45_CHARS: Final = 31
"""The minimum length of a match of `IN_45`."""

MIN_ODD_BASE45_CHARS: Final = 4
DUMP_PLACE: Final = r"^\s*[0-9a-fA-F]{4,8}:? +"
DUMP: Final = r"(?m)(?:^[ \t]*[0-9a-fA-F]{6,8}:? {1,2}(?:[0-9a-fA-F]{2,4} {1,2}){2,16}[^\n]*\n?){2,400}"
MIN_BITS: Final = 128
SYMBOLS: Final = r"[^\x00-\x7f\w\s][^\x00-\x7f\w]{63,}"
NAMED: Final = (
    r"(?i)\blatin (?:small|capital) letter [a-z]\b"
    r"(?:[\s,;|+-]{1,4}(?:latin (?:small|capital) letter [a-z]|space)\b){11,}"
)
NAMED_LETTER: Final = r"(?i)letter ([a-z])\b|space"
PRIVATE: Final = "[\ue000-\uf8ff][\ue000-\uf8ff]{7,}"
FACES: Final = "[\U0001f3f7-\U0001f4f6]{16,}"
FIRST_FACE: Final = 0x1F3F7


def read_base58(blob: str) -> str | None:
    """Decode base58; return None for letters outside its alphabet."""
    return _read_number(blob, BASE58)


def read_base62(blob: str) -> str | None:
    """Decode base62, with capitals before or after the lower-case letters."""
    return _read_number(blob, BASE62) or _read_number(blob.swapcase(), BASE62)


def read_base36(blob: str) -> str | None:
    """Decode base36."""
    return _read_number(blob.upper(), BASE62[:36]) if blob.islower() or blob.isupper() else None


def _read_number(blob: str, digits: str) -> str | None:
    """Decode a blob as one number, in base 58 or similar, whose bytes are the text."""
    if not 24 <= len(blob) <= MAX_NUMBER_CHARS or blob.strip(digits):
        return None
    number, base = 0, len(digits)
    if not _begins_ascii(blob, digits):
        return None
    for start in range(0, len(blob), AT_ONCE):
        part = 0
        letters = blob[start : start + AT_ONCE]
        for letter in letters:
            place = digits.find(letter)
            if place < 0:
                return None
            part = part * base + place
        number = number * base ** len(letters) + part
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return raw.decode("ascii") if raw.isascii() else None


def _begins_ascii(blob: str, digits: str) -> bool:
    """Return whether a number's first bytes may be ASCII letters, judging by its first digits."""
    base, part = len(digits), 0
    for letter in blob[:AT_ONCE]:
        part = part * base + max(0, digits.find(letter))
    unit = base ** (len(blob) - AT_ONCE)
    behind = max(0, ((part * unit).bit_length() + 7) // 8 - FIRST_BYTES) * 8
    least, most = part * unit >> behind, (part + 1) * unit >> behind
    return least != most or least & NOT_ASCII == 0


def read_base45(run: str) -> str:
    """Decode base45 (RFC 9285)."""
    values = list(map(BASE45.find, run))
    raw = bytearray()
    for at in range(0, len(values) - 1, 3):
        group = values[at : at + 3]
        number = sum(value * 45**power for power, value in enumerate(group))
        if min(group) < 0 or number >= 1 << 8 * (len(group) - 1):
            return ""
        raw += number.to_bytes(len(group) - 1, "big")
    return raw.decode("utf-8", "replace")


def read_tap_code(run: str) -> str:
    """Decode tap code: rows and columns of a square in which C and K share a cell."""
    counts = list(map(len, re.findall(r"[.*xX\u2022]+", run)))
    pairs = zip(counts[::2], counts[1::2], strict=False)
    return "".join(TAP_LETTERS[(row * 5 + column - 6) % 25] for row, column in pairs)


def read_dump(run: str) -> str:
    """Decode the bytes of a hex dump, line by line, without offsets and the text column."""
    raw = bytearray()
    for line in run.splitlines():
        beside = compiled(DUMP_PLACE).sub("", line).partition("|")[0]
        digits = re.sub(r"[^0-9a-fA-F]", "", beside.partition("  ")[0] if ":" in line[:9] else beside)
        raw += bytes.fromhex(digits[: len(digits) // 2 * 2])
    return raw.decode("utf-8", "replace")


def read_uu(lines: str) -> str:
    """Decode the lines between `begin` and `end`."""
    try:
        return b"".join(map(a2b_uu, lines.splitlines()[:MAX_LINES])).decode("utf-8", "replace")
    except (BadEncoding, ValueError):
        return ""


def read_alphabet_positions(run: str) -> str:
    """Decode numbers from 1 to 26 as letters; slashes, if any, separate words."""
    words = re.split(r" ?[/|] ?| (?=\d)" if "-" in run else r" ?[/|] ?", run)
    letters = [
        [int(number) for number in re.findall(r"\d+", word)] for word in (words if len(words) > 2 else [run])
    ]
    if any(not 1 <= place <= 26 for word in letters for place in word):
        return ""
    return " ".join("".join(SMALL[place - 1] for place in word) for word in letters)


def read_square(run: str) -> str:
    """Decode rows and columns of the Polybius square, in which I and J share a cell."""
    pairs = re.findall(r"[1-5]{2}", run)
    return "".join(SQUARE_LETTERS[int(row) * 5 + int(column) - 6] for row, column in pairs)


def read_bacon(run: str) -> str:
    """Decode groups of five letters A and B, in the 26-letter alphabet."""
    bits = "".join(run.upper().replace("A", "0").replace("B", "1").split()).replace(",", "")
    values = [int(bits[at : at + 5], 2) for at in range(0, len(bits) - 4, 5)]
    return "".join(SMALL[value] for value in values if value < 26)


def read_spoken_bits(run: str) -> str:
    """Decode the words zero and one, eight per letter."""
    bits = re.sub(r"[^01]", "", run.lower().replace("zero", "0").replace("one", "1"))
    return "".join(chr(int(bits[at : at + 8], 2)) for at in range(0, min(len(bits), 32_000) - 7, 8))


def read_blanks(runs: str) -> str:
    """Decode trailing blanks and tabs as bits, eight or seven per letter."""
    for one in "\t ":
        bits = "".join("1" if blank == one else "0" for blank in runs[:32_000])
        for width in (8, 7):
            values = [int(bits[at : at + width], 2) for at in range(0, len(bits) - width + 1, width)]
            if all(9 <= value < 127 for value in values):
                return "".join(map(chr, values))
    return ""


def read_private(run: str) -> str:
    """Decode letters shifted into a private-use area, by their last byte."""
    return "".join(chr(ord(letter) & 0xFF) for letter in run)


def read_symbols(run: str) -> str:
    """Decode any two symbols as bits, eight or seven per letter."""
    bare = run.replace("\ufe0f", "")
    signs = sorted({*bare})
    return read_blanks(bare.replace(signs[0], " ").replace(signs[1], "\t")) if len(signs) == 2 else ""


def read_names(run: str) -> str:
    """Decode letters written as their Unicode names."""
    return "".join(found[1] or " " for found in compiled(NAMED_LETTER).finditer(run))


def find_rare_encodings(text: str, signs: CharacterMap) -> Iterator[tuple[int, int, str, str]]:
    """Yield the start, end, plain text and name of each possible rare encoding; the caller evaluates it."""
    if " \t" in text or "\t " in text:
        runs = list(compiled(BLANKS).finditer(text))
        blanks = "".join(found.group() for found in runs)
        if len(blanks) >= MIN_BITS and (plain := read_blanks(blanks)):
            yield runs[0].start(), runs[-1].end(), plain, "blanks"
    if "begin " in text:
        for found in compiled(UU).finditer(text):
            yield *found.span(), read_uu(found[1]), "uuencoding"
    if "\nM" in text or text[:1] == "M":
        for found in compiled(BARE_UU).finditer(text):
            yield *found.span(), read_uu(found.group()), "uuencoding"
    if ". ." in text or ".. " in text:
        for found in compiled(TAPS).finditer(text):
            yield *found.span(), read_tap_code(found.group()), "taps"
    if "00000" in text:
        for found in compiled(DUMP).finditer(text):
            yield *found.span(), read_dump(found.group()), "a dump"
    for found in compiled(IN_45).finditer(text) if signs.has_run(BASE45, MIN_BASE45_CHARS) else ():
        run = found.group().rstrip()
        if sum(map(run.count, "$%*+/:")) >= MIN_ODD_BASE45_CHARS and run.upper() == run:
            yield *found.span(), read_base45(run[:MAX_NUMBER_CHARS]), "base45"
    if signs.has_run(PLACE_SIGNS, MIN_POSITION_CHARS):
        for found in compiled(SQUARE).finditer(text):
            yield *found.span(), read_square(found.group()), "Polybius' square"
        for found in compiled(PLACES).finditer(text):
            yield *found.span(), read_alphabet_positions(found.group()), "places in the alphabet"
    if "AAB" in text or "ABA" in text or "aab" in text or "aba" in text:
        for found in compiled(BACON).finditer(text):
            yield *found.span(), read_bacon(found.group()), "Bacon's cipher"
    if "zero" in text or "Zero" in text:
        for found in compiled(SAID_BITS).finditer(text):
            yield *found.span(), read_spoken_bits(found.group()), "bits"
    if "E96" in text or "J@F" in text or "2?5" in text:
        yield from _find_lines(text, ROT47_WORDS)
    if "LATIN " in text or "Latin small" in text or "latin small" in text:
        for found in compiled(NAMED).finditer(text):
            yield *found.span(), read_names(found.group()), "names of letters"
    if not text.isascii():
        yield from _find_foreign(text)


def _find_foreign(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Find encodings that use characters beyond ASCII, whose runs are also runs among the non-ASCII characters."""
    odd = non_ascii_characters(text)
    for found in compiled(SYMBOLS).finditer(text) if compiled(SYMBOLS).search(odd) else ():
        yield *found.span(), read_symbols(found.group()), "two signs"
    for found in compiled(PRIVATE).finditer(text) if compiled(PRIVATE).search(odd) else ():
        yield *found.span(), read_private(found.group()), "private use"
    for found in compiled(FACES).finditer(text) if compiled(FACES).search(odd) else ():
        yield *found.span(), "".join(chr(ord(face) - FIRST_FACE) for face in found.group()), "base100"
    if (
        any(letter in odd for letter in COMMON_FLIPPED)
        and len(compiled(FLIPPED).findall(odd)) >= MIN_FLIPPED_CHARS
    ):
        yield from _find_flipped(text)


def _find_lines(text: str, words: tuple[str, ...]) -> Iterator[tuple[int, int, str, str]]:
    start = 0
    for line in text.split("\n"):
        if len(set(words) & set(line.split())) >= 2:
            yield start, start + len(line), line.translate(ROT47), "ROT47"
        start += len(line) + 1


def _find_flipped(text: str) -> Iterator[tuple[int, int, str, str]]:
    start = 0
    for line in text.split("\n"):
        if len(compiled(FLIPPED).findall(line)) >= MIN_FLIPPED_CHARS:
            yield start, start + len(line), line.translate(UPSIDE_DOWN)[::-1], "upside down"
        start += len(line) + 1
