"""Decode codes for single letters: two symbols, keypads, spoken Morse, letter squares, spelt-out positions.

Every pattern matches runs possessively, without backtracking, so that it takes linear time. Source:
ITU-T E.161 (letters on keypads), ITU-R M.1677 (Morse), ADFGX (1918).
"""

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from injection_scanner.decoding.character_map import IN, UNPARTED_SIGNS, CharacterMap
from injection_scanner.decoding.morse import read_morse
from injection_scanner.tables.lazy_patterns import compiled

MAX_CHARS: Final = 4000
BITS: Final = r"(?<!\S)(?:[^\s\w]{8}|[Oo0lI1xXoO]{8}) (?:\S{8} ){11,4000}+\S{0,8}"
SOME_BITS: Final = (IN * 8 + b" ") * 12
KEYPAD: Final = r"(?<![\w.])(?:(?:[2-9]{1,4}|[01/|]) ){16,4000}+[2-9]{0,4}"
SPOKEN: Final = r"(?i)\b(?:(?:di|dit|dah|dot|dash)(?: [/|] |[ -])){24,4000}+(?:dit|dah|dot|dash)?\b"
PAIRS: Final = r"(?<!\w)(?:[A-Z]{2} (?:[/|] )?){16,4000}+[A-Z]{0,2}"
PAIR_SIGNS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ /|"
MIN_PAIRS_CHARS: Final = 48
"""The minimum length of a match of `PAIRS`."""

SPELLED: Final = (
    r"(?i)\b(?:(?:twenty[ -])?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen)\b(?: [/|] |[ ,-]{1,2})){16,4000}+\w{0,12}"
)
ROMAN: Final = r"(?i)\b(?:[ivx]{1,5}(?: [/|] |[ ,.-]{1,2})){16,4000}+[ivx]{0,5}"
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
WITHOUT_J: Final = "abcdefghiklmnopqrstuvwxyz"
KEYPADS: Final = ("abc", "def", "ghi", "jkl", "mno", "pqrs", "tuv", "wxyz")
KEYS: MappingProxyType[str, str] = MappingProxyType(
    {
        key * place: letter
        for key, letters in zip("23456789", KEYPADS, strict=True)
        for place, letter in enumerate(letters, 1)
    }
)
NUMBERS: Final = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
SPELLED_POSITIONS: MappingProxyType[str, str] = MappingProxyType(
    {
        **dict(zip(NUMBERS, LETTERS, strict=False)),
        **{f"twenty-{ones}": letter for ones, letter in zip(NUMBERS[:6], LETTERS[20:], strict=True)},
    }
)
ONES: Final = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
ROMAN_PLACES: MappingProxyType[str, str] = MappingProxyType(
    {"x" * (place // 10) + ONES[place % 10]: letter for place, letter in enumerate(LETTERS, 1)}
)
WORD_ENDS: Final = r" ?[/|] ?| 0 "
SQUARE_SIDE: Final = 5


def read_two_signs(run: str) -> str:
    """Decode groups of eight of any two symbols as bytes; return an empty string for other groups."""
    groups = run[: MAX_CHARS * 9].split()
    groups = groups if len(groups[-1]) == 8 else groups[:-1]
    signs = sorted(set("".join(groups)))
    if len(signs) != 2:
        return ""
    for zero, one in (signs, signs[::-1]):
        bits = [group.replace(zero, "0").replace(one, "1") for group in groups]
        if all(group[0] == "0" for group in bits):
            return "".join(chr(int(group, 2)) for group in bits)
    return ""


def read_coded(run: str, code: MappingProxyType[str, str]) -> str:
    """Decode words with one code per letter; return an empty string for other codes."""
    words = [
        "".join(code.get(each, "\0") for each in word.replace(",", " ").split())
        for word in re.split(WORD_ENDS, run)
    ]
    plain = " ".join(words).strip()
    return "" if "\0" in plain else plain


def read_pairs(run: str) -> str:
    """Decode rows and columns, named by letters, in an alphabetical letter square."""
    names = sorted(set(run) - {" ", "/", "|"})
    if len(names) != SQUARE_SIDE:
        return ""
    code = {
        one + two: WITHOUT_J[row * SQUARE_SIDE + column]
        for row, one in enumerate(names)
        for column, two in enumerate(names)
    }
    return read_coded(run, MappingProxyType(code))


def to_morse(run: str) -> str:
    """Convert spoken Morse to dots and dashes."""
    signs = re.sub(r"dit?|dot", ".", re.sub("dah|dash", "_", run.lower()))
    return signs.replace("-", "").replace("_", "-")


def find_letter_codes(text: str, marks: CharacterMap) -> Iterator[tuple[int, int, str, str]]:
    """Yield the start, end, plain text and name of each possible letter code; the caller evaluates it."""
    for found in compiled(BITS).finditer(text) if marks.has_shape(UNPARTED_SIGNS, SOME_BITS) else ():
        yield *found.span(), read_two_signs(found.group()), "two signs"
    if "33 " in text or "44 " in text:
        for found in compiled(KEYPAD).finditer(text):
            yield *found.span(), read_coded(found.group(), KEYS), "a keypad"
    if marks.holds(b"dah") or marks.holds(b"dash dot") or marks.holds(b"dash-dot"):
        for found in compiled(SPOKEN).finditer(text):
            yield *found.span(), read_morse(to_morse(found.group())), "Morse"
    for found in compiled(PAIRS).finditer(text) if marks.has_run(PAIR_SIGNS, MIN_PAIRS_CHARS) else ():
        yield *found.span(), read_pairs(found.group()), "a square with letters"
    if marks.holds(b"nineteen") and marks.holds(b"twenty"):
        for found in compiled(SPELLED).finditer(text):
            run = re.sub(r"(?i)twenty (?=one|two|three|four|five|six)", "twenty-", found.group()).lower()
            yield *found.span(), read_coded(run, SPELLED_POSITIONS), "places in the alphabet"
    if marks.holds(b" xx") and marks.holds(b" xv"):
        for found in compiled(ROMAN).finditer(text):
            yield *found.span(), read_coded(found.group().lower(), ROMAN_PLACES), "places in the alphabet"
