"""Join fragments in the forms into which orders are split: labels, strings, cells, comments.

Every view takes linear time. Joined text is nearly always benign, so only text that names the acts of an order is
passed on.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from injection_scanner.tables.lazy_patterns import compiled

NUMBERS: Final = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
LABELLED: Final = (
    r"(?m)^[\s>*/|\-\"'(]{0,12}(?:#\s?)?([A-Za-z]{1,14})[ _-]?(\[?\d{1,2}\]?|[A-Ha-h]|"
    + "|".join(NUMBERS)
    + r")\b"
    r"[^:=.\n]{0,14}(?:[:=]|\.{3})\s{0,3}([^\n]{2,240})$"
)
ASSIGNED: Final = (
    r"(?:\d\]?|(?<![\w$])[A-Z])\s?[:=]\s?"
    r"(?:\"([^\"\n]{1,120})\"|'([^'\n]{1,120})'|`([^`\n]{1,120})`|([A-Za-z.~/-][\w./~@-]{0,40}))(?=[\s;,.)]|$)"
)
NAME: Final = r"(?<![\w$])([A-Za-z_]{0,12})\[?(\d{1,2}\]?|[A-Z])\Z"
MAX_NAME: Final = 16
ITEM: Final = r"(?m)^[ \t>*-]{0,8}\(?([a-h]|\d{1,2})[.):]\s{1,3}([^\n]{2,160})$"
JOIN_REQUESTS: Final = ("together", "as one", "in one go", "in a row", "combin", "join", "assembl")
"""Every text that asks to join the items of a list contains one of these phrases."""

QUOTED: Final = r"\"([^\"\n]{1,240})\"|(?<!\w)'([^'\n]{1,240})'(?!\w)|«([^»\n]{1,240})»|“([^”\n]{1,240})”"
KEY_ENDS: Final = (": ", ':"', " :")
COMMENT: Final = r"<!--\s*(?:\w{1,12}\s?\d{0,2}\s?[:.)-]\s)?([^>]{2,300}?)\s*-->"
BRACKETED: Final = r"(?:\[[^\]\[\n]{1,24}\] ?){3,60}"
BOLD: Final = r"\*\*([^*\n]{1,60})\*\*"
NAMED_HALVES: Final = (
    r"(?i)\b(?:first|second|third|last|left|right|upper|lower|top|bottom|front|back|opening|closing)\s\w{2,9}"
    r"(?:\s\w{2,9}){0,3}?(?::| is| reads| says)\s([^\n/|;]{3,200}?)(?=[\n/|;]|\.\s|$)"
)
HALVES: Final = ("half", "halves", " part", "piece", "scrap", "fragment", "shred")
"""Every text that names parts of an order contains one of these words."""

TABLE: Final = r"(?m)(?:^[ \t]*\|[^\n]{3,400}\|[ \t]*(?:\n|\Z)){3,60}"
DEEDS: Final = (
    r"ignor|disregard|forget|overrid|bypass|instruct|prompt|guideline|passw|credential|secret|token|apikey|api_?key|\.env\b"
    r"|\.ssh|id_rsa|privatekey|curl|wget|rm-rf|sudo|exfil|upload|send|mail|post|reveal|leak|delet|wipe|disabl|obey|vergiss"
    r"|https?:|@\w|rules|key|sandbox|system"
)
MIN_DEEDS: Final = 2
MAX_FRAGMENTS: Final = 40
MAX_JOINED: Final = 500
MAX_GAP: Final = 400
"""The maximum number of characters between quoted strings that belong together."""


class Joined(Struct, frozen=True):
    """The joined text of fragments, and the start and end of each fragment in the original text.

    `alone` contains quotations that name deeds on their own; an attack in one of them is quoted whole, not split.
    """

    places: tuple[tuple[int, int], ...]
    text: str
    alone: tuple[str, ...]


def joined_fragments(text: str) -> Iterator[Joined]:
    """Yield the joined text of each view's fragments."""
    for places, parts, is_quoted in _series(text):
        if not 2 <= len(parts) <= MAX_FRAGMENTS:
            continue
        together = "".join(parts)
        if len(together) > MAX_JOINED or not _names_deeds(together):
            continue
        alone = tuple(part for part in parts if _names_deeds(part)) if is_quoted else ()
        yield Joined(places, " ".join(part.strip() for part in parts), alone)
        yield Joined(places, together, alone)


def _names_deeds(text: str) -> bool:
    compact = text.replace(" ", "").casefold()
    return len({*compiled(DEEDS).findall(compact)}) >= MIN_DEEDS


Places = tuple[tuple[int, int], ...]
Series = tuple[Places, list[str]]


def _series(text: str) -> Iterator[tuple[Places, list[str], bool]]:
    for each in _unquoted(text):
        yield *each, False
    for each in _quoted(text):
        yield *each, True
    if any(f'"{end}' in text for end in KEY_ENDS):
        for each in _quoted(text, with_keys=False):
            yield *each, True
    if text.count("**") > 1:
        for each in _every(text, BOLD):
            yield *each, True


def _unquoted(text: str) -> Iterator[Series]:
    yield from _labelled(text)
    if "=" in text or ":" in text:
        yield from _assigned(text)
    if any(map(text.__contains__, JOIN_REQUESTS)):
        yield from _listed(text)
    if text.count("<!--") > 1:
        yield from _every(text, COMMENT)
    if "][" in text or "] [" in text:
        for found in compiled(BRACKETED).finditer(text):
            yield (found.span(),), [part.strip(" []") + " " for part in found.group().split("]")[:-1]]
    if any(map(text.__contains__, HALVES)):
        yield from _every(text, NAMED_HALVES)
    if "|" in text:
        yield from _tables(text)


def _every(text: str, pattern: str) -> Iterator[Series]:
    found = list(compiled(pattern).finditer(text))
    if len(found) > 1:
        yield tuple(each.span() for each in found), [each[1].strip(" \"'«»`") for each in found]


def _labelled(text: str) -> Iterator[Series]:
    """Yield lines whose labels differ in a number or letter, in text order and in label order."""
    groups: dict[str, list[tuple[int, int, str, str]]] = {}
    for found in compiled(LABELLED).finditer(text):
        part = found[3].strip(" \t\"'`«»,;|/\\")
        groups.setdefault(found[1].casefold(), []).append((found.start(), found.end(), found[2], part))
    for group in groups.values():
        yield from _ordered(group)


def _listed(text: str) -> Iterator[Series]:
    """Yield the items of each short list whose labels count up from `a` or 1."""
    group: list[tuple[int, int, str]] = []
    for found in compiled(ITEM).finditer(text):
        rank = _rank(found[1])
        if group and (rank in (1, ord("a")) or found.start() - group[-1][1] > MAX_GAP):
            yield from _run_of(group)
            group = []
        group.append((found.start(), found.end(), found[2]))
    yield from _run_of(group)


def _assigned(text: str) -> Iterator[Series]:
    """Yield nearby short assignments whose names differ in a number or letter."""
    group: list[tuple[int, int, str, str]] = []
    stem = ""
    for found in compiled(ASSIGNED).finditer(text):
        sign = found.start() + (2 if text[found.start() + 1] == "]" else 1)
        named = compiled(NAME).search(text, max(0, sign - MAX_NAME), sign)
        if named is None:
            continue
        if group and (named[1] != stem or found.start() - group[-1][1] > MAX_GAP):
            yield from _ordered(group)
            group = []
        stem = named[1]
        part = next(filter(None, found.groups()), "")
        group.append((named.start(), found.end(), named[2], part))
    yield from _ordered(group)


def _ordered(group: list[tuple[int, int, str, str]]) -> Iterator[Series]:
    if len(group) < 2:
        return
    places = tuple((start, end) for start, end, *_ in group)
    yield places, [part for *_, part in group]
    ordered = sorted(group, key=lambda each: _rank(each[2]))
    if ordered != group:
        yield places, [part for *_, part in ordered]


def _rank(label: str) -> int:
    label = label.strip("[]").casefold()
    if label.isdigit():
        return int(label)
    return NUMBERS.index(label) if label in NUMBERS else ord(label[0])


def _quoted(text: str, *, with_keys: bool = True) -> Iterator[Series]:
    """Yield quoted strings that closely follow one another, with or without JSON keys between them."""
    group: list[tuple[int, int, str]] = []
    for found in compiled(QUOTED).finditer(text):
        if not with_keys and text.startswith(KEY_ENDS, found.end()):
            continue
        part = next(filter(None, found.groups()), "")
        if group and (found.start() - group[-1][1] > MAX_GAP or len(group) == MAX_FRAGMENTS):
            yield from _run_of(group)
            group = []
        group.append((found.start(), found.end(), part))
    yield from _run_of(group)


def _run_of(group: list[tuple[int, int, str]]) -> Iterator[Series]:
    if len(group) > 1:
        yield tuple((start, end) for start, end, _ in group), [part for _, _, part in group]


def _tables(text: str) -> Iterator[Series]:
    """Yield the columns of tables with a column of numbers, ordered by these numbers."""
    for found in compiled(TABLE).finditer(text):
        lines = (line.strip().strip("|").split("|") for line in found.group().strip().split("\n"))
        rows: list[list[str]] = [
            [cell.strip() for cell in line] for line in lines if set("".join(line)) - set(" -:|")
        ]
        if len(rows) < MIN_DEEDS + 1 or len({len(row) for row in rows}) != 1:
            continue
        body: list[list[str]] = rows[1:]
        numbered = next((at for at in range(len(body[0])) if all(row[at].isdigit() for row in body)), None)
        if numbered is None:
            continue
        order: int = numbered
        body.sort(key=lambda row: int(row[order]))
        for at in range(len(body[0])):
            if at != numbered:
                yield (found.span(),), [row[at] for row in body]
