"""Fold text for matching: one case, one spacing, one form of each letter, with offsets into the original.

In folded text, a line feed is a boundary (blank line, list item, heading, fence), and a mere line wrap is a space.
Source: Unicode UAX #15 (normal forms), UTS #39 (confusables), for Latin look-alikes only.
"""

import re
from bisect import bisect_right
from unicodedata import normalize

from msgspec import Struct

# Chunks bound canonical reordering, which is quadratic in a run of combining marks.
# Expressed by exclusion, because a range of all non-ASCII characters would take milliseconds to compile.
UNEVEN = re.compile(
    r"[^\x00-\x08\x0e-\x1b!-)+-\x7f](?:(?<=\s)(?:\s+|(?<![ \n])|(?<=\n)(?<![\x00-\x7f]\n))"
    r"|(?<=\*)\**|(?<=[^\x00-\x7f])[^\x00-\x7f]{0,63})"
)
# Legitimate joiners and selectors are removed too, so that they cannot separate the letters of a pattern.
ACCENTS = re.compile("[\u0300-\u036f\u200b-\u200f\u2066-\u2069\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
BARRIER = re.compile(r"[-+*#|<]|\d{1,3}[.)]|```|~~~")
WRAPPED = re.compile(rf"\n(?<=[\x00-\x08\x0e-\x1b!-\x7f]\n)(?!\s|{BARRIER.pattern})")
"""Matches a line feed that only wraps a line; it becomes a space of the same length."""

LOOK_ALIKE_LETTERS = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0432"
    "\u043a\u043c\u043d\u0442\u0433\u03b7\u03bf\u03bd\u03c4\u03c5\u03ba\u0251\u0261\u03b1\u03b5"
    "\u03b9\u03c1\u03c7\u03b3\u0585\u057d\u0570\u0578\u0581\u0575\u0475\u050d\u04cf\u044c\u043f"
    "\ua4ee\ua4d0\ua4da\ua4d3\ua4f0\ua4dd\ua4d6\ua4e7\ua4f2\ua4d9\ua4d7\ua4e1\ua4df\ua4e0\ua4f3"
    "\ua4d1\ua4e3\ua4e2\ua4d4\ua4f4\ua4e6\ua4ea\ua4eb\ua4ec\ua4dc\uab7a\u13fc\uabaf\uab70\uab7c"
    "\uab90\uab8b\uab75\uab7b\uabb6\uabae\uab87\uabb2\uab71\uabaa\uab72\uaba9\uab83\uab8d\uab93"
)
LOOK_ALIKE = str.maketrans(
    LOOK_ALIKE_LETTERS,
    "aeopcyxijshdqwbkmhtrnovtukagaeipxyouhngjvglbnabcdefghijklmnoprstuvwxyzabcdeghijklmprstvwyz",
)
# Small capitals, boxed letters and upside-down letters belong to no language's alphabet, so they always fold.
# The Turkish dotless i is a real letter, but folds too.
STYLED_LETTERS = (
    "\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f\u1d00\u1d04\u1d05\u1d07\u1d0a\u1d0b\u1d0d"
    "\u1d0f\u1d18\u1d1b\u1d1c\u1d20\u1d21\u1d22\ua730\ua731\ua7af\U0001f150\U0001f151\U0001f152"
    "\U0001f153\U0001f154\U0001f155\U0001f156\U0001f157\U0001f158\U0001f159\U0001f15a\U0001f15b"
    "\U0001f15c\U0001f15d\U0001f15e\U0001f15f\U0001f160\U0001f161\U0001f162\U0001f163\U0001f164"
    "\U0001f165\U0001f166\U0001f167\U0001f168\U0001f169\U0001f170\U0001f171\U0001f172\U0001f173"
    "\U0001f174\U0001f175\U0001f176\U0001f177\U0001f178\U0001f179\U0001f17a\U0001f17b\U0001f17c"
    "\U0001f17d\U0001f17e\U0001f17f\U0001f180\U0001f181\U0001f182\U0001f183\U0001f184\U0001f185"
    "\U0001f186\U0001f187\U0001f188\U0001f189\U0001f1e6\U0001f1e7\U0001f1e8\U0001f1e9\U0001f1ea"
    "\U0001f1eb\U0001f1ec\U0001f1ed\U0001f1ee\U0001f1ef\U0001f1f0\U0001f1f1\U0001f1f2\U0001f1f3"
    "\U0001f1f4\U0001f1f5\U0001f1f6\U0001f1f7\U0001f1f8\U0001f1f9\U0001f1fa\U0001f1fb\U0001f1fc"
    "\U0001f1fd\U0001f1fe\U0001f1ff\u01dd\u025f\u0183\u0265\u1d09\u027e\u029e\u026f\u0279\u0287"
    "\u028c\u028d\u028e\u0250\u0254"
)
# Letters with a hook or a stroke have no accent to remove. Legitimate ones fold too, in texts and patterns alike.
STROKED_LETTERS = (
    "\u0111\u0142\u00f8\u0127\u0167\u0180\u0253\u0188\u0256\u0257\u0192\u0260\u0266\u0268\u0249"
    "\u0199\u019a\u0271\u0272\u019e\u0275\u01a5\u024b\u024d\u0282\u01ad\u0288\u0289\u028b\u2c73\u01b4\u024f\u01b6\u0225"
)
STYLED = str.maketrans(
    STYLED_LETTERS + STROKED_LETTERS + "\u0131",
    "ginrybhlacdejkmoptuvwzfsqabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
    "abcdefghijklmnopqrstuvwxyzefghijkmrtvwyacdlohtbbcddfghijklmnnopqrsttuvwyyzzi",
)
MIXABLE = re.compile(f"[{LOOK_ALIKE_LETTERS}]+")


class Folded(Struct, frozen=True):
    """Folded text; offset `starts[i]` corresponds to `origins[i]` in the original, one to one up to the next start.

    `mixed` holds the original offsets where a look-alike letter stood inside a Latin word.
    """

    text: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]
    mixed: tuple[int, ...]

    def origin(self, offset: int) -> int:
        """Return the original offset of a folded one, never beyond the piece that it came from."""
        piece = bisect_right(self.starts, offset) - 1
        found = self.origins[piece] + offset - self.starts[piece]
        return min(found, self.origins[piece + 1]) if piece + 1 < len(self.origins) else found

    def place(self, origin: int) -> int:
        """Return the folded offset of an original one, at the start of the piece that contains or follows it."""
        piece = bisect_right(self.origins, origin) - 1
        found = self.starts[piece] + origin - self.origins[piece]
        return min(found, self.starts[piece + 1]) if piece + 1 < len(self.starts) else found


def fold_letters(run: str) -> str:
    """Fold non-ASCII letters: unify compatibility forms and case, and remove Latin accents."""
    return normalize("NFC", ACCENTS.sub("", normalize("NFKD", run))).lower().translate(STYLED)


def fold_pattern(pattern: str) -> str:
    """Fold the letters of a pattern in the same way as texts, leaving its ASCII syntax alone."""
    return re.sub(r"[^\x00-\x7f]+", lambda found: fold_letters(found.group()), pattern)


def fold(text: str) -> Folded:
    """Fold a whole text, in time linear in its length."""
    text = WRAPPED.sub(" ", text)
    text = text.lower() if text.isascii() else text
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
