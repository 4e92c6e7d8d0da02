"""Text folded for matching: one case, one spacing, one shape of each letter, with a way back to the original.

Knows: NFKC and accents, look-alike letters, white space. Does not know: rules, findings.
In folded text a line feed is a barrier (blank line, list item, heading, fence); a wrapped line is a space.
Source: Unicode UAX #15 (normal forms), UTS #39 (confusables), for Latin look-alikes only.
"""

import re
from bisect import bisect_right
from unicodedata import normalize

from msgspec import Struct

# Chunks keep canonical reordering, which is quadratic in a run of combining marks, bounded.
UNEVEN = re.compile(r"\s{2,}|[^\S ]|[^\x00-\x7f]{1,64}|\*+")
# Honest joiners and selectors go too, so that they cannot part the letters of a pattern.
ACCENTS = re.compile("[\u0300-\u036f\u200b-\u200f\u2066-\u2069\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
BARRIER = re.compile(r"[-+*#|<]|\d{1,3}[.)]|```|~~~")
LOOK_ALIKE_LETTERS = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
    "\u0432\u043a\u043c\u043d\u0442\u0433\u03b7\u03bf\u03bd\u03c4\u03c5\u03ba\u0251\u0261\u0131"
)
LOOK_ALIKE = str.maketrans(LOOK_ALIKE_LETTERS, "aeopcyxijshdqwbkmhtrnovtukagi")
MIXABLE = re.compile(f"[{LOOK_ALIKE_LETTERS}]+")


class Folded(Struct, frozen=True):
    """Folded text; `starts[i]` in it came from `origins[i]` in the original, one to one until the next start.

    `mixed` holds the original offsets where a look-alike letter stood inside a Latin word.
    """

    text: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]
    mixed: tuple[int, ...]

    def origin(self, offset: int) -> int:
        """Give the original offset of a folded one, never past the piece it came from."""
        piece = bisect_right(self.starts, offset) - 1
        found = self.origins[piece] + offset - self.starts[piece]
        return min(found, self.origins[piece + 1]) if piece + 1 < len(self.origins) else found

    def place(self, origin: int) -> int:
        """Give the folded offset of an original one, at the begin of the piece it lies in or after."""
        piece = bisect_right(self.origins, origin) - 1
        found = self.starts[piece] + origin - self.origins[piece]
        return min(found, self.starts[piece + 1]) if piece + 1 < len(self.starts) else found


def fold_letters(run: str) -> str:
    """Fold non-ASCII letters: compatibility forms and case become one, Latin accents go."""
    return normalize("NFC", ACCENTS.sub("", normalize("NFKD", run))).lower()


def fold_pattern(pattern: str) -> str:
    """Fold the letters of a pattern as texts are folded, leaving its ASCII syntax alone."""
    return re.sub(r"[^\x00-\x7f]+", lambda found: fold_letters(found.group()), pattern)


def fold(text: str) -> Folded:
    """Fold a whole text in one pass."""
    pieces: list[str] = []
    starts: list[int] = [0]
    origins: list[int] = [0]
    mixed: list[int] = []
    length = 0
    last = 0
    for found in UNEVEN.finditer(text):
        start, end = found.span()
        plain = text[last:start].lower()
        run = found.group()
        if run.isspace():
            folded = _fold_space(text, run, end)
        elif run[0] == "*":
            folded = ""
        else:
            folded = fold_letters(run)
            if _is_mixed(text, start, end, folded):
                mixed.append(start)
                folded = folded.translate(LOOK_ALIKE)
        pieces += (plain, folded)
        length += len(plain)
        starts.append(length)
        origins.append(start)
        length += len(folded)
        starts.append(length)
        origins.append(end)
        last = end
    pieces.append(text[last:].lower())
    return Folded("".join(pieces), tuple(starts), tuple(origins), tuple(mixed))


def _fold_space(text: str, run: str, end: int) -> str:
    newlines = run.count("\n")
    if newlines == 0:
        return " "
    return "\n" if newlines > 1 or BARRIER.match(text, end) else " "


def _is_mixed(text: str, start: int, end: int, folded: str) -> bool:
    if MIXABLE.fullmatch(folded) is None:
        return False
    before = text[start - 1 : start]
    after = text[end : end + 1]
    return (before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha())
