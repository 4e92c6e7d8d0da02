"""Find passages that nearly match a string.

A match must be unique. The work is bounded: texts above MAX_TEXT_CHARS are not searched, and the search takes
linear time, however repetitive the text.
"""

from difflib import SequenceMatcher
from math import gcd
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError

MAX_TEXT_CHARS: Final = 4_000_000
MAX_COMPARISON_COST: Final = 2_000_000
SHOWN_LINES: Final = 20
SHOWN_COLUMNS: Final = 200
_SHAPES: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys(
            "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
        ),
    }
)


class SimilarPassage(Struct, frozen=True):
    """The only possible match, its replacement, and how it differs from the text sought."""

    start: int
    end: int
    new: str
    note: str


def normalise_shape(text: str) -> str:
    """Return a string of the same length with plain quotes, dashes and spaces."""
    return text.translate(_SHAPES)


def find_similar(text: str, old: str, new: str) -> SimilarPassage | None:
    """Find the one passage that differs from `old` in the style of quotes, dashes and spaces, or only in spaces.

    Return None if no passage matches. `new` is indented like the passage it replaces. Raises WorkspaceError if several
    passages match: the intended one is then ambiguous.
    """
    if len(text) > MAX_TEXT_CHARS or not old.strip():
        return None
    plain, sought = normalise_shape(text), normalise_shape(old)
    if place := _only(plain, sought, "the style of quotes, dashes or spaces"):
        return SimilarPassage(
            place[0], place[0] + len(old), new, "old_text was found with different quotes, dashes or spaces."
        )
    bare_old = sought.removesuffix("\n")
    for differs_in, strip in (("spaces at line ends", str.rstrip), ("indentation", str.strip)):
        lines = [strip(line) for line in plain.split("\n")]
        wanted = [strip(line) for line in bare_old.split("\n")]
        place = _only("\n".join(("", *lines, "")), "\n".join(("", *wanted, "")), differs_in)
        if place is None:
            continue
        first = place[1]
        own = text.split("\n")
        found = own[first : first + len(wanted)]
        fitted = new
        if differs_in == "indentation":
            refit = _indented(bare_old.split("\n"), found, new)
            if refit is None:
                return None
            fitted = refit
        start = sum(len(line) + 1 for line in own[:first])
        end = start + sum(len(line) + 1 for line in found) - 1
        end += sought.endswith("\n") and end < len(text)
        return SimilarPassage(start, end, fitted, f"old_text was found with different {differs_in}.")
    return None


def _only(text: str, sought: str, differs_in: str) -> tuple[int, int] | None:
    """Return the only occurrence, and the number of line endings before it. Raises WorkspaceError."""
    start = text.find(sought)
    if start < 0:
        return None
    if text.find(sought, start + 1) >= 0:
        raise WorkspaceError(
            f"old_text is not in the file; apart from {differs_in} it occurs more than once.",
            hint="Copy it exactly from the file, with more of the surrounding text.",
        )
    return start, text.count("\n", 0, start)


def _indented(old: list[str], found: list[str], new: str) -> str | None:
    """Indent the new lines like the lines found, if the old lines were indented differently.

    Returns None if there is no consistent mapping, because one old indentation corresponds to two found ones.
    """
    known: dict[str, str] = {}
    for one, other in zip(old, found, strict=True):
        if one.strip() and known.setdefault(_indent(one), _indent(other)) != _indent(other):
            return None
    lines = new.split("\n")
    fitted: list[str] = []
    for line in lines:
        indent = _indent(line)
        fitted.append(_translated(indent, known) + line[len(indent) :] if line.strip() else line)
    return "\n".join(fitted)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _translated(indent: str, known: dict[str, str]) -> str:
    """Return the mapped indentation: that of a known one, or of the nearest shorter one plus the remainder."""
    if indent in known:
        return known[indent]
    nearest = max((each for each in known if indent.startswith(each)), key=len, default=None)
    if nearest is None:
        shortest = min(known, key=len)
        return known[shortest][: len(known[shortest]) - (len(shortest) - len(indent))]
    rest = indent[len(nearest) :]
    if "\t" in "".join(known.values()) and rest.strip(" ") == "" and rest:
        step = gcd(*(len(each) for each in (*known, indent)))
        rest = "\t" * (len(rest) // step)
    return known[nearest] + rest


def describe_nearest(text: str, wanted: str) -> str:
    """Describe the part of a text that is most similar to a passage that is not in it."""
    lines = text.split("\n")
    sought = wanted.strip("\n").split("\n")
    first = _nearest_start(lines, sought)
    if first is None:
        return "The file has no similar text: read it again."
    end = min(first + len(sought), first + SHOWN_LINES, len(lines))
    shown = "\n".join(f"{number + 1:6}\t{lines[number][:SHOWN_COLUMNS]}" for number in range(first, end))
    return f"It must match exactly, spaces included. The nearest is at lines {first + 1}-{end}:\n{shown}"


def _nearest_start(lines: list[str], sought: list[str]) -> int | None:
    bare = [line.strip() for line in lines]
    wanted = [line.strip() for line in sought]
    window = max(1, min(len(wanted), MAX_COMPARISON_COST // max(1, len(lines))))
    scores = [
        sum(
            1
            for one, other in zip(bare[start : start + window], wanted, strict=False)
            if one and one == other
        )
        for start in range(len(lines))
    ]
    best = max(scores)
    if best:
        return scores.index(best)
    anchor = max(wanted, key=len)
    if not anchor:
        return None
    number, likeness = _most_alike(bare, anchor[:SHOWN_COLUMNS])
    return max(0, number - wanted.index(anchor)) if likeness >= 0.5 else None


def _most_alike(lines: list[str], wanted: str) -> tuple[int, float]:
    matcher = SequenceMatcher(None, b=wanted, autojunk=False)
    best, likeness = 0, 0.0
    spent = 0
    for number, line in enumerate(lines):
        matcher.set_seq1(line[:SHOWN_COLUMNS])
        if matcher.real_quick_ratio() <= likeness or matcher.quick_ratio() <= likeness:
            continue
        spent += len(line[:SHOWN_COLUMNS]) * len(wanted)
        if (ratio := matcher.ratio()) > likeness:
            best, likeness = number, ratio
        if spent > 10 * MAX_COMPARISON_COST:
            break
    return best, likeness
