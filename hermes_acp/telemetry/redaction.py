"""Keep secrets out of what is shown, recorded and sent to a model.

The `secret_scan` module defines what a secret looks like.
"""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final, Protocol
from urllib.parse import quote, quote_plus, unquote

import msgspec

from hermes_acp.lazy_pattern import LazyPattern
from hermes_acp.telemetry.normalized_views import NormalizedView, without_breaks, without_unseen
from hermes_acp.telemetry.private_keys import LABEL, key_lines, names_key_file
from hermes_acp.telemetry.secret_masks import mask_of
from hermes_acp.telemetry.secret_scan import (
    CONTEXT,
    KnownSecrets,
    Scan,
    Span,
    index_known_secrets,
    merged,
    scan,
)
from hermes_acp.telemetry.token_patterns import shapes

SECRET_NAME: Final = LazyPattern(
    "KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_(?:PASS|PWD|AUTH|COOKIE|DSN|PAT)$"
    "|^(?:DATABASE|REDIS|MONGO(?:DB)?|POSTGRES|MYSQL|AMQP|RABBITMQ|BROKER|SENTRY)_UR[IL]$|CONNECTION_STRING|^HERMES_(?:NOTIFY|FLEET)_"
    "|^OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS$",
    re.IGNORECASE,
)
MIN_SECRET_CHARACTERS: Final = 8
_ASSIGNED: Final = LazyPattern(r"[A-Za-z_][\w.-]*[=:](?![=\s]|\Z)")
WINDOW: Final = 24 * 1024


class SecretScan(Protocol):
    """A function that finds the secrets in a string, starting at a settled position."""

    def __call__(self, text: str, begin: int, *, is_final: bool) -> Scan:
        """Scan the text."""
        ...


class Redactor:
    """Replaces secrets in any text: known ones, and those recognisable by their format or name."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {secret for secret in secrets if len(secret) >= MIN_SECRET_CHARACTERS}
        self._known = index_known_secrets(each for secret in known for each in _spellings(secret))

    def clean(self, text: str, *, source: str = "") -> str:
        """Return the text without secrets; if its `source` names a key file, also without key lines."""
        spans = self._scan(text, 0, is_final=True).spans
        if names_key_file(source):
            spans = merged((*spans, *((block.start, block.end, LABEL) for block in key_lines(text))))
        return _render(text, spans, 0, len(text))

    def stream(self) -> "RedactedStream":
        """Return a redactor for text that arrives in pieces."""
        return RedactedStream(self._scan)

    def tail(self, text: str, size: int, *, is_final: bool) -> str:
        """Redact the last `size` characters of a string, given at least WINDOW more of it, or all of it.

        A possible start of a secret is left out unless the text `is_final`.
        """
        found = self._scan(text, 0, is_final=is_final)
        start = max(0, found.settled - size)
        start = next((last for first, last, _ in found.spans if first < start < last), start)
        return _render(text, found.spans, start, found.settled)

    def _scan(self, text: str, begin: int, *, is_final: bool) -> Scan:
        view = without_unseen(text)
        if view is None:
            return self._scan_lines(text, begin, is_final=is_final)
        found = self._scan_lines(view.text, view.before(begin), is_final=is_final)
        return _placed(found, view, begin, len(text) if is_final else None)

    def _scan_lines(self, text: str, begin: int, *, is_final: bool) -> Scan:
        """Scan the lines as they are, and the tokens that are broken at line ends."""
        found = scan(text, begin, self._known, is_final=is_final)
        view = without_breaks(text, is_final=is_final)
        if view is None:
            return found
        whole = scan(view.text, view.before(begin), self._known, is_final=is_final, within=view.since)
        kinds = shapes().kinds
        broken: list[Span] = []
        for start, end, kind in _placed(whole, view, begin, None).spans:
            is_begun = _overlaps((start, end, kind), found.spans)
            end = _end_of_broken(text, start, end, is_begun=is_begun)
            if end and (is_begun or kind in kinds):
                broken.append((start, end, kind))
        settled = min(found.settled, _placed(whole, view, begin, len(text) if is_final else None).settled)
        spans = merged((*found.spans, *broken))
        settled = next((start for start, end, _ in spans if start < settled < end), settled)
        return Scan([span for span in spans if span[0] < settled], settled)


def compile_patterns() -> None:
    """Compile the pattern table, which the first long token needs and which would block the event loop for too long."""
    shapes()


class RedactedStream:
    """Text that is cleaned as it arrives in pieces; the result does not depend on the piece boundaries.

    Only a possible start of a secret is held back, at most a few dozen kilobytes.
    """

    def __init__(self, look: SecretScan) -> None:
        self._scan = look
        self._text = ""
        self._begin = 0

    def feed(self, text: str) -> str:
        """Add a piece and return the text that is final."""
        self._text += text
        return self._give(is_final=False)

    def finish(self) -> str:
        """Return the text that was held back, once the stream has ended."""
        return self._give(is_final=True)

    def _give(self, *, is_final: bool) -> str:
        found = self._scan(self._text, self._begin, is_final=is_final)
        given = _render(self._text, found.spans, self._begin, found.settled)
        dropped = max(0, found.settled - CONTEXT)
        self._text = self._text[dropped:]
        self._begin = found.settled - dropped
        return given


def secrets_among(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables that are secret by name or content, including each value in a list of headers."""
    found = {name: value for name, value in variables.items() if is_secret(name, value)}
    lists = [value for name, value in found.items() if name.startswith("OTEL_")]
    parts = (unquote(part.partition("=")[2].strip()) for value in lists for part in value.split(","))
    return (*found.values(), *filter(None, parts))


def is_secret(name: str, value: str) -> bool:
    """Return whether a variable holds a secret. Proxy addresses do not count, because they are needed."""
    if SECRET_NAME.compiled.search(name):
        return True
    is_proxy = name.lower().endswith("_proxy")
    return not is_proxy and bool(scan(f"{name}={value}", 0, KnownSecrets(), is_final=True).spans)


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret verbatim, as escaped in URLs and JSON, and as part of base64 or hexadecimal data."""
    data = secret.encode("utf-8", "replace")
    yield from (secret, quote(data, safe=""), quote_plus(data), data.hex(), data.hex().upper())
    yield msgspec.json.encode(data.decode()).decode()[1:-1]
    for shift, unsure in enumerate((0, 2, 3)):
        # The surrounding data changes the outermost characters; three bytes become four characters.
        until = -1 if (len(data) + shift) % 3 else None
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(bytes(shift) + data).decode().rstrip("=")[unsure:until]


def _placed(found: Scan, view: NormalizedView, begin: int, end: int | None) -> Scan:
    """Map results from a view back to the text; with an `end`, everything is settled."""
    spans = [(view.place(start), view.place(last - 1) + 1, kind) for start, last, kind in found.spans]
    if end is not None:
        return Scan(spans, end)
    return Scan(spans, max(begin, view.place(found.settled - 1) + 1) if found.settled else begin)


def _end_of_broken(text: str, start: int, end: int, *, is_begun: bool) -> int:
    """Return the end of a secret that continues on other lines, or 0 if it is on a single line.

    With `is_begun`, the part on the first line is masked anyway, so the last lines may be ordinary words.
    """
    lines = text.count("\n", start, end)
    while lines > (not is_begun):
        line_end = text.rfind("\n", start, end)
        is_named = bool(_ASSIGNED.compiled.match(text, line_end + 1))
        if text[line_end - 1] == "\\" or (not is_named and _is_random(text[line_end + 1 : end])):
            break
        end = line_end
        lines -= 1
    return end if lines else 0


def _is_random(piece: str) -> bool:
    """Return whether a piece looks like part of a secret rather than words."""
    if not any(map(str.isalpha, piece)):
        return False
    changes = sum(one.islower() != other.islower() for one, other in pairwise(piece))
    return any(map(str.isdigit, piece)) or changes * 3 > len(piece)


def _overlaps(span: Span, others: Iterable[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end, _ in others)


def _render(text: str, spans: Iterable[Span], start: int, end: int) -> str:
    pieces: list[str] = []
    for first, last, kind in spans:
        if first >= start:
            pieces += (text[start:first], mask_of(kind))
            start = last
    pieces.append(text[start:end])
    return "".join(pieces)
