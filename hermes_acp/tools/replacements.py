"""Find a passage in a file and put another in its place.

Knows: line ends of both kinds, lines, likeness. Does not know: files, workspaces, tools.
"""

from bisect import bisect_left
from difflib import SequenceMatcher

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.telemetry.masks import foreign_mask

LARGEST_COMPARISON = 2_000_000
SHOWN_LINES = 20
SHOWN_COLUMNS = 200


class Passage(Struct, frozen=True):
    """What to look for and what to put there, line ends of either kind."""

    old: str
    new: str
    every: bool = False


def replace(text: str, passage: Passage, newline: str) -> str:
    """Give the text with the passage replaced; every other byte stays, mixed line ends included.

    Line ends are not told apart in the search; the new words get `newline`. Raises WorkspaceTrouble where the
    passage is missing, or is there several times and not `every` one is meant.
    """
    old, new = passage.old.replace("\r\n", "\n"), passage.new.replace("\r\n", "\n")
    plain = text.replace("\r\n", "\n")
    starts = _find_all(plain, old)
    if not starts and (mask := foreign_mask(old, plain)):
        raise WorkspaceTrouble(
            f"old_text holds {mask}, which is not in the file: it hides a secret from you.",
            hint="Give the text before or after it, without the secret.",
        )
    if not starts:
        raise WorkspaceTrouble("old_text is not in the file.", hint=_describe_nearest(plain, old))
    if len(starts) > 1 and not passage.every:
        lines = ", ".join(str(plain.count("\n", 0, start) + 1) for start in starts[:20])
        more = f" and {len(starts) - 20} more" if len(starts) > 20 else ""
        raise WorkspaceTrouble(
            f"old_text is in the file {len(starts)} times, at lines {lines}{more}.",
            hint="Give more of the text around the one you mean, or set replace_all.",
        )
    shortened = _shortened_at(text)
    pieces: list[str] = []
    done = 0
    for start in starts:
        pieces.append(text[done : start + bisect_left(shortened, start)])
        pieces.append(new.replace("\n", newline))
        end = start + len(old)
        done = end + bisect_left(shortened, end)
    return "".join([*pieces, text[done:]])


def _find_all(text: str, wanted: str) -> list[int]:
    starts: list[int] = []
    start = text.find(wanted)
    while start >= 0:
        starts.append(start)
        start = text.find(wanted, start + len(wanted))
    return starts


def _shortened_at(text: str) -> list[int]:
    """Give, in places of the text with plain line ends, every line end that has two characters in `text`."""
    places: list[int] = []
    start = text.find("\r\n")
    while start >= 0:
        places.append(start - len(places))
        start = text.find("\r\n", start + 2)
    return places


def _describe_nearest(text: str, wanted: str) -> str:
    lines = text.split("\n")
    sought = wanted.strip("\n").split("\n")
    first = _nearest_start(lines, sought)
    if first is None:
        return "Nothing in it is like it: read the file again."
    end = min(first + len(sought), first + SHOWN_LINES, len(lines))
    shown = "\n".join(f"{number + 1:6}\t{lines[number][:SHOWN_COLUMNS]}" for number in range(first, end))
    return f"It must match exactly, spaces included. The nearest is at lines {first + 1}-{end}:\n{shown}"


def _nearest_start(lines: list[str], sought: list[str]) -> int | None:
    bare = [line.strip() for line in lines]
    wanted = [line.strip() for line in sought]
    window = max(1, min(len(wanted), LARGEST_COMPARISON // max(1, len(lines))))
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
        if spent > 10 * LARGEST_COMPARISON:
            break
    return best, likeness
