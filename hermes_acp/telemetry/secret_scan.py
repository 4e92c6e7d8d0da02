"""Find the secrets in a string, and the position up to which later text cannot change the result.

This takes linear time. Text that arrives in pieces gives the same result as the whole, because every decision
depends on a single token: the text between two of `secret_assignments.BREAKS`, or MAX_TOKEN_CHARACTERS characters of a
longer one.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from hermes_acp.telemetry.encoded_secrets import MIN_ENCODED_CHARACTERS, find_encoded_secret
from hermes_acp.telemetry.private_keys import (
    ANNOUNCED,
    ENDED,
    LABEL,
    MAX_HEADER_CHARACTERS,
    is_private_key,
    key_after_header,
    key_before_footer,
    trailing_key_start,
)
from hermes_acp.telemetry.secret_assignments import REACH, find_assigned_secret, keyword_places
from hermes_acp.telemetry.token_patterns import shapes

MAX_TOKEN_CHARACTERS = 16 * 1024
MIN_REVERSED_CHARACTERS = 20
CONTEXT = 2 * REACH
"""The number of settled characters that must precede the remaining text."""

_BREAK = b"\0"
_RUN = b"\1" * 16
_IN_RUN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+%\\")
_BREAKS = frozenset(b" \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\"'`,;<>(){}[]|")
_CLASSES = bytes(0 if code in _BREAKS else 1 if code in _IN_RUN else 2 for code in range(256))

Span = tuple[int, int, str]


class KnownSecrets(Struct, frozen=True):
    """Verbatim secrets: those within one token that contain a long run, as a pattern, and the others as they are."""

    in_tokens: re.Pattern[str] | None = None
    elsewhere: tuple[str, ...] = ()


class Scan(Struct, frozen=True):
    """The secrets, ordered and disjoint, as `(start, end, kind)`; nothing before `settled` will change."""

    spans: Sequence[Span]
    settled: int


def index_known_secrets(values: Iterable[str]) -> KnownSecrets:
    """Group known secrets by the method of finding them."""
    in_tokens: list[str] = []
    elsewhere: list[str] = []
    for value in sorted(set(values), key=lambda value: (-len(value), value)):
        marks = value.encode("latin-1", "replace").translate(_CLASSES)
        (in_tokens if _RUN in marks and _BREAK not in marks else elsewhere).append(value)
    pattern = re.compile("|".join(map(re.escape, in_tokens))) if in_tokens else None
    return KnownSecrets(pattern, tuple(elsewhere))


def may_hold_secrets(content: bytes) -> bool:
    """Quickly check whether `scan` could find a secret in this UTF-8 content."""
    if _RUN in content.translate(_CLASSES) or ANNOUNCED in content or ENDED in content:
        return True
    return next(keyword_places(content.lower(), 0, len(content)), None) is not None


def scan(
    text: str, begin: int, known: KnownSecrets, *, is_final: bool, within: Sequence[int] | None = None
) -> Scan:
    """Scan a string from `begin`, which is its start or the position up to which an earlier scan was settled.

    If positions are given in `within`, only tokens that contain one are scanned: secrets in different tokens cannot
    overlap.
    """
    raw = text.encode("latin-1", "replace")
    marks = raw.translate(_CLASSES)
    regions, settled = _regions(marks, begin, is_final=is_final)
    found: list[Span] = []
    for block_end, span, is_open in _keys(text, raw, begin, is_final=is_final):
        if is_open:
            settled = _boundary(marks, regions, min(settled, block_end))
        elif span:
            found.append(span)
    found += _ended_keys(text, raw, begin)
    values = [
        span for value in known.elsewhere for span in _occurrences(text, value, max(0, begin - CONTEXT))
    ]
    if not is_final:
        settled = _boundary(marks, regions, min(settled, trailing_key_start(text)))
        settled = _before_known(text, marks, regions, known.elsewhere, values, settled)
    lowered = raw.lower()
    for start, end in regions:
        if start < settled:
            stop = min(end, settled)
            if within is None:
                found += _tokens(text, marks, (start, stop), known.in_tokens)
                found += _assignments(text, lowered, start, stop, max(0, start - REACH), stop)
                continue
            for first, last in _tokens_around(marks, within, start, stop):
                found += _tokens(text, marks, (first, last), known.in_tokens)
                found += _assignments(
                    text, lowered, start, stop, max(0, start - REACH, first - CONTEXT), last
                )
    found += values
    return Scan(merged(span for span in found if begin <= span[0] < settled), settled)


def _regions(marks: bytes, begin: int, *, is_final: bool) -> tuple[list[tuple[int, int]], int]:
    """Split tokens that are too long; return the pieces and the end of the last complete token."""
    regions: list[tuple[int, int]] = []
    start = here = begin
    while len(marks) - here > MAX_TOKEN_CHARACTERS:
        last = marks.rfind(_BREAK, here, here + MAX_TOKEN_CHARACTERS)
        if last >= 0:
            here = last + 1
        else:
            here += MAX_TOKEN_CHARACTERS
            regions.append((start, here))
            start = here
    regions.append((start, len(marks)))
    settled = len(marks) if is_final else max(start, marks.rfind(_BREAK, begin) + 1)
    return regions, settled


def _tokens_around(marks: bytes, places: Sequence[int], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each token in a region that contains one of the given positions."""
    last = start
    for place in places[bisect_right(places, start) : bisect_left(places, end)]:
        if place >= last:
            first = max(start, marks.rfind(_BREAK, start, place) + 1)
            last = marks.find(_BREAK, place, end)
            last = end if last < 0 else last
            yield first, last


def _boundary(marks: bytes, regions: list[tuple[int, int]], place: int) -> int:
    """Return the last boundary between tokens up to `place`."""
    start = max((start for start, _ in regions if start <= place), default=regions[0][0])
    return max(start, marks.rfind(_BREAK, start, place) + 1)


def _keys(text: str, raw: bytes, begin: int, *, is_final: bool) -> Iterator[tuple[int, Span | None, bool]]:
    place = raw.find(ANNOUNCED, max(0, begin - MAX_HEADER_CHARACTERS))
    while place >= 0:
        if block := key_after_header(text, place, is_final=is_final):
            span = (block.start, block.end, LABEL) if block.end > block.start else None
            yield place + len(ANNOUNCED), span, block.is_open
        place = raw.find(ANNOUNCED, place + 1)


def _ended_keys(text: str, raw: bytes, begin: int) -> Iterator[Span]:
    place = raw.find(ENDED, begin)
    while place >= 0:
        if block := key_before_footer(text, place):
            yield block.start, block.end, LABEL
        place = raw.find(ENDED, place + 1)


def _occurrences(text: str, value: str, start: int) -> Iterator[Span]:
    place = text.find(value, start)
    while place >= 0:
        yield place, place + len(value), ""
        place = text.find(value, place + 1)


def _before_known(
    text: str,
    marks: bytes,
    regions: list[tuple[int, int]],
    known: Sequence[str],
    values: Sequence[Span],
    settled: int,
) -> int:
    """Move `settled` out of known secrets, including those of which only the start is present."""
    starts = [
        len(text) - size
        for value in known
        for size in range(min(len(value) - 1, len(text)), len(text) - settled, -1)
        if text.endswith(value[:size])
    ]
    while True:
        around = [start for start, end, _ in values if start < settled < end]
        around += [start for start in starts if start < settled]
        if not around:
            return settled
        settled = _boundary(marks, regions, min(around))
        if settled == regions[0][0]:
            return settled


def _first_kind(text: str) -> str:
    """Return the kind of the first secret in a decoded text, which is not decoded further."""
    if is_private_key(text):
        return LABEL
    raw = text.encode("latin-1", "replace")
    marks = raw.translate(_CLASSES)
    whole = (0, len(text))
    found = next(_tokens(text, marks, whole, None, is_unwrapped=True), None)
    return (
        found[2]
        if found
        else next((kind for _, _, kind in _assignments(text, raw.lower(), *whole, *whole)), "")
    )


def _tokens(
    text: str,
    marks: bytes,
    region: tuple[int, int],
    known: re.Pattern[str] | None,
    *,
    is_unwrapped: bool = False,
) -> Iterator[Span]:
    """Try the patterns, the known secrets and other decodings on every token that contains a long run."""
    start, end = region
    run = marks.find(_RUN, start, end)
    if run < 0:
        return
    kinds = shapes()
    while run >= 0:
        first = max(start, marks.rfind(_BREAK, start, run) + 1)
        last = marks.find(_BREAK, run, end)
        last = end if last < 0 else last
        yield from kinds.find(text, first, last)
        if known:
            for match in known.finditer(text, first, last):
                yield *match.span(), ""
        if last - first >= MIN_REVERSED_CHARACTERS and not is_unwrapped:
            yield from _backwards(text, first, last)
        if last - first >= MIN_ENCODED_CHARACTERS and not is_unwrapped:
            yield from find_encoded_secret(text, first, last, _first_kind)
        run = marks.find(_RUN, last, end)


def _backwards(text: str, first: int, last: int) -> Iterator[Span]:
    kinds = shapes()
    if not kinds.mirrored.search(text, first, last):
        return
    for start, end, kind in kinds.find(text[first:last][::-1], 0, last - first):
        yield last - end, last - start, kind


def _assignments(text: str, lowered: bytes, start: int, end: int, first: int, last: int) -> Iterator[Span]:
    """Check the keywords from `first` to `last` for values in a region; their values cannot be in other regions."""
    for place in keyword_places(lowered, first, last):
        found = find_assigned_secret(text, max(0, place - REACH), end, place)
        if found and found[0] >= start:
            yield found


def merged(spans: Iterable[Span]) -> list[Span]:
    """Sort spans and merge overlapping ones; the first one determines the kind."""
    merged: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if merged and start < merged[-1][1]:
            first, last, name = merged[-1]
            merged[-1] = (first, max(last, end), name)
        else:
            merged.append((start, end, kind))
    return merged
