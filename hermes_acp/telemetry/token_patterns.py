"""Find secrets by their format alone: tokens with a vendor's prefix.

The patterns are grouped by first character, and a group is compiled when one of its prefixes occurs.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, convert

MIN_TOKEN_CHARACTERS = 6
"""The number of distinct characters below which a token is a placeholder, such as a row of crosses."""

_FILLED_IN = re.compile(r"x{5}|\*{3}|\.\.\.|0{8}|your[-_]|[-_]here\b|placeholder|changeme", re.IGNORECASE)


class TokenPattern(Struct, frozen=True):
    """A kind of token; the comment at the top of `shapes.toml` explains the fields."""

    id: str
    starts: tuple[str, ...]
    rest: str
    source: str
    strict: bool = True
    inside: bool = False
    mark: str = ""


class TokenPatterns(Struct, frozen=True):
    """All kinds as patterns; the name of the matching group identifies the kind.

    `leads` finds where one of `starts` follows a character that is not part of a token. `groups` contains a pattern for
    each first character; it is compiled when one of its kinds may start there, because most sessions need none of them.
    `inside` finds kinds that may follow any character, and is tried only if one of `middles` occurs. `mirrored` finds
    tokens that are written backwards.
    """

    starts: tuple[str, ...]
    leads: re.Pattern[str]
    groups: MappingProxyType[str, str]
    inside: str
    middles: tuple[str, ...]
    mirrored: re.Pattern[str]
    marked: tuple[TokenPattern, ...]
    by_group: MappingProxyType[str, TokenPattern]

    @property
    def kinds(self) -> frozenset[str]:
        """The names of all kinds; our own secrets have no name."""
        return frozenset(("", *(shape.id for shape in read_token_patterns())))

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
        """Yield the positions at which the kinds occur in a token."""
        if first := self._match(text, start, end):
            yield from self._judged(first)
        begin = start
        while lead := self.leads.search(text, begin, end):
            begin = lead.end()
            if match := self._match(text, begin, end):
                yield from self._judged(match)
                begin = match.end()
        for shape in self.marked:
            if text.find(shape.mark, start, end) >= 0:
                matches = _compiled(shape.rest).finditer(text, start, end)
                yield from ((*match.span(), shape.id) for match in matches)
        for middle in self.middles:
            if text.find(middle, start, end) >= 0:
                for match in _compiled(self.inside).finditer(text, start, end):
                    yield from self._judged(match)

    def _match(self, text: str, start: int, end: int) -> re.Match[str] | None:
        """Return the kind that begins at `start`."""
        if not text.startswith(self.starts, start, end):
            return None
        return _compiled(self.groups[text[start]]).match(text, start, end)

    def _judged(self, match: re.Match[str]) -> Iterator[tuple[int, int, str]]:
        if kind := self.judge(match):
            yield *match.span(match.lastgroup or 0), kind

    def judge(self, match: re.Match[str]) -> str:
        """Return the kind of a match, or an empty string if it only looks like a token."""
        shape = self.by_group[match.lastgroup or ""]
        text = match[match.lastgroup or 0]
        body = text[max((len(start) for start in shape.starts if text.startswith(start)), default=0) :]
        if len(set(body)) < MIN_TOKEN_CHARACTERS or _FILLED_IN.search(body):
            return ""
        is_random = any(map(str.isdigit, body)) and any(map(str.isalpha, body))
        return shape.id if shape.strict or is_random else ""


@cache
def read_token_patterns() -> tuple[TokenPattern, ...]:
    """Read the pattern table."""
    text = Path(__file__).with_name("shapes.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text)["shape"], tuple[TokenPattern, ...])


@cache
def shapes() -> TokenPatterns:
    """Compile the pattern table, once."""
    apart: dict[str, list[tuple[int, str]]] = {}
    inside: list[str] = []
    middles: list[str] = []
    by_group: dict[str, TokenPattern] = {}
    for shape in read_token_patterns():
        for start in shape.starts:
            name = f"g{len(by_group)}"
            by_group[name] = shape
            body = f"(?P<{name}>{re.escape(start)}{shape.rest})"
            if shape.inside:
                inside.append(body)
                middles.append(start)
            else:
                apart.setdefault(start[0], []).append((-len(start), body))
    groups = {first: "|".join(body for _, body in sorted(bodies)) for first, bodies in apart.items()}
    starts = sorted({start for shape in by_group.values() if not shape.inside for start in shape.starts})
    return TokenPatterns(
        tuple(starts),
        re.compile(f"[^A-Za-z0-9](?={'|'.join(map(re.escape, starts))})"),
        MappingProxyType(groups),
        "|".join(inside),
        tuple(middles),
        re.compile(
            "|".join(
                sorted({re.escape(start[::-1]) for shape in by_group.values() for start in shape.starts})
            )
        ),
        tuple(shape for shape in read_token_patterns() if shape.mark),
        MappingProxyType(by_group),
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)
