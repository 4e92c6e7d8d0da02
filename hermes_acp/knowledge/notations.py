"""Rarer notations: base58, uuencoding, places in the alphabet or a square, Bacon's cipher, ROT47, letters upside down.

Knows: how each looks and how it is read. Does not know: what the words mean, when it is worth a look (`decoding.py`).
Every reader is bounded by `LONGEST_NUMBER` letters or linear.
Source: POSIX uuencode; Bacon 1623 (De augmentis); ROT47 over the printable signs of ASCII; draft-msporny-base58.
"""

import re
import string
from binascii import Error as BadEncoding
from binascii import a2b_uu
from collections.abc import Iterator
from typing import Final

LONGEST_NUMBER: Final = 1200
MOST_LINES: Final = 400
BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
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
FLIPPED: Final = re.compile(
    "[\u0250\u0254\u01dd\u025f\u0183\u0265\u1d09\u027e\u029e\u026f\u0279\u0287\u028c\u028d\u028e]"
)
LEAST_FLIPPED: Final = 6
COMMON_FLIPPED: Final = "\u01dd\u0250\u0279\u0265"
"""Letters e, a, r and h upside down."""

UU: Final = re.compile(r"(?m)^begin [0-7]{3,4} \S[^\n]{0,80}\n((?:[!-`][ -`]{0,84}\n){1,400})")
BARE_UU: Final = re.compile(r"(?m)(?:^M[ -`]{60}\n){1,400}(?:^[!-L][ -`]{4,60}$)?")
SQUARE: Final = re.compile(r"[1-5](?<![\w.].)[1-5][ ,-](?:[1-5]{2}[ ,-]){14,}[1-5]{2}(?![\w.])")
SQUARE_LETTERS: Final = "abcdefghiklmnopqrstuvwxyz"
PLACES: Final = re.compile(
    r"\d(?<![\w.].)\d?(?: ?[ ,./|-] ?| / )(?:\d{1,2}(?: ?[ ,./|-] ?| / )){14,}\d{1,2}(?![\w.])"
)
BACON: Final = re.compile(r"\b(?:[ABab]{5}[ ,]?){12,}")
SAID_BITS: Final = re.compile(r"(?i)\b(?:(?:zero|one)[ ,]{1,2}){48,}")
BLANKS: Final = re.compile(r"(?m)(?<![ \t])[ \t]*(?: \t|\t )[ \t]*(?=\.?$)")
LEAST_BITS: Final = 128
PRIVATE: Final = re.compile("[\ue000-\uf8ff][\ue000-\uf8ff]{7,}")


def read_base58(blob: str) -> str | None:
    """Read base58; None where the letters are not of it."""
    if not 24 <= len(blob) <= LONGEST_NUMBER or blob.strip(BASE58):
        return None
    number = 0
    for letter in blob:
        place = BASE58.find(letter)
        if place < 0:
            return None
        number = number * 58 + place
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return raw.decode("ascii") if raw.isascii() else None


def read_uu(lines: str) -> str:
    """Read the lines between `begin` and `end`."""
    try:
        return b"".join(map(a2b_uu, lines.splitlines()[:MOST_LINES])).decode("utf-8", "replace")
    except (BadEncoding, ValueError):
        return ""


def read_places(run: str) -> str:
    """Read numbers from 1 to 26 as letters; a stroke parts words where there is one."""
    words = re.split(r" ?[/|] ?", run)
    letters = [
        [int(number) for number in re.findall(r"\d+", word)] for word in (words if len(words) > 2 else [run])
    ]
    if any(not 1 <= place <= 26 for word in letters for place in word):
        return ""
    return " ".join("".join(string.ascii_lowercase[place - 1] for place in word) for word in letters)


def read_square(run: str) -> str:
    """Read rows and columns of the square of Polybius, in which i and j are one."""
    pairs = re.findall(r"[1-5]{2}", run)
    return "".join(SQUARE_LETTERS[int(row) * 5 + int(column) - 6] for row, column in pairs)


def read_bacon(run: str) -> str:
    """Read groups of five letters A and B, in the alphabet of 26 letters."""
    bits = "".join(run.upper().replace("A", "0").replace("B", "1").split()).replace(",", "")
    values = [int(bits[at : at + 5], 2) for at in range(0, len(bits) - 4, 5)]
    return "".join(string.ascii_lowercase[value] for value in values if value < 26)


def read_said_bits(run: str) -> str:
    """Read the words zero and one, eight a letter."""
    bits = re.sub(r"[^01]", "", run.lower().replace("zero", "0").replace("one", "1"))
    return "".join(chr(int(bits[at : at + 8], 2)) for at in range(0, min(len(bits), 32_000) - 7, 8))


def read_blanks(runs: str) -> str:
    """Read blanks and tabs at the ends of lines as bits, eight or seven a letter."""
    for one in "\t ":
        bits = "".join("1" if blank == one else "0" for blank in runs[:32_000])
        for width in (8, 7):
            values = [int(bits[at : at + width], 2) for at in range(0, len(bits) - width + 1, width)]
            if all(9 <= value < 127 for value in values):
                return "".join(map(chr, values))
    return ""


def read_private(run: str) -> str:
    """Read letters that were moved into an area for private use, by their last byte."""
    return "".join(chr(ord(letter) & 0xFF) for letter in run)


def find_rare(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Give start, end, plain text and name of what may be written in a rare notation; the caller judges it."""
    if " \t" in text or "\t " in text:
        runs = list(BLANKS.finditer(text))
        blanks = "".join(found.group() for found in runs)
        if len(blanks) >= LEAST_BITS and (plain := read_blanks(blanks)):
            yield runs[0].start(), runs[-1].end(), plain, "blanks"
    if "begin " in text:
        for found in UU.finditer(text):
            yield *found.span(), read_uu(found[1]), "uuencoding"
    if "\nM" in text or text[:1] == "M":
        for found in BARE_UU.finditer(text):
            yield *found.span(), read_uu(found.group()), "uuencoding"
    for found in SQUARE.finditer(text):
        yield *found.span(), read_square(found.group()), "Polybius' square"
    for found in PLACES.finditer(text):
        yield *found.span(), read_places(found.group()), "places in the alphabet"
    if "AAB" in text or "ABA" in text or "aab" in text or "aba" in text:
        for found in BACON.finditer(text):
            yield *found.span(), read_bacon(found.group()), "Bacon's cipher"
    if "zero" in text or "Zero" in text:
        for found in SAID_BITS.finditer(text):
            yield *found.span(), read_said_bits(found.group()), "bits"
    if "E96" in text or "J@F" in text or "2?5" in text:
        yield from _find_lines(text, ROT47_WORDS)
    if not text.isascii():
        for found in PRIVATE.finditer(text):
            yield *found.span(), read_private(found.group()), "private use"
        if any(letter in text for letter in COMMON_FLIPPED) and len(FLIPPED.findall(text)) >= LEAST_FLIPPED:
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
        if len(FLIPPED.findall(line)) >= LEAST_FLIPPED:
            yield start, start + len(line), line.translate(UPSIDE_DOWN)[::-1], "upside down"
        start += len(line) + 1
