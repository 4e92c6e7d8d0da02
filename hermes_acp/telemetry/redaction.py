"""Keep secrets out of what is shown, recorded and sent to a model.

What a secret looks like is told by `scanning`.
"""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final, Protocol
from urllib.parse import quote, quote_plus

import msgspec

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

SECRET_NAME: Final = re.compile(
    "KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_(?:PASS|PWD|AUTH|COOKIE|DSN|PAT)$"
    "|^(?:DATABASE|REDIS|MONGO(?:DB)?|POSTGRES|MYSQL|AMQP|RABBITMQ|BROKER|SENTRY)_UR[IL]$|CONNECTION_STRING",
    re.IGNORECASE,
)
MIN_SECRET_CHARACTERS: Final = 8
_ASSIGNED: Final = re.compile(r"[A-Za-z_][\w.-]*[=:](?![=\s]|\Z)")
WINDOW: Final = 24 * 1024


class SecretScan(Protocol):
    """A function that finds the secrets of a text, from a settled place on."""

    def __call__(self, text: str, begin: int, *, is_final: bool) -> Scan:
        """Look."""
        ...


class Redactor:
    """Replaces secrets in any text: the known ones, and all whose shape or name gives them away."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {secret for secret in secrets if len(secret) >= MIN_SECRET_CHARACTERS}
        self._known = index_known_secrets(each for secret in known for each in _spellings(secret))

    def clean(self, text: str, *, source: str = "") -> str:
        """Return the text without any secret; where its `source` names a key file, also without key lines."""
        spans = self._scan(text, 0, is_final=True).spans
        if names_key_file(source):
            spans = merged((*spans, *((block.start, block.end, LABEL) for block in key_lines(text))))
        return _render(text, spans, 0, len(text))

    def stream(self) -> "RedactedStream":
        """Redact a text that comes in pieces."""
        return RedactedStream(self._scan)

    def tail(self, text: str, size: int, *, is_final: bool) -> str:
        """Redact the last `size` characters of a text, given at least WINDOW more of it, or all of it.

        What may be the start of a secret is left out unless the text `is_final`.
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
        """Look at the lines as they are, and at the tokens that are broken at their ends."""
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
    """Compile the table of shapes, which takes longer than a step of the loop may; the first long token needs it."""
    shapes()


class RedactedStream:
    """One text that comes in pieces, cleaned as it comes; wherever it is cut, the whole is the same.

    Only what may be the beginning of a secret is held back, a few dozen kilobytes at most.
    """

    def __init__(self, look: SecretScan) -> None:
        self._scan = look
        self._text = ""
        self._begin = 0

    def feed(self, text: str) -> str:
        """Take a piece; return what is settled."""
        self._text += text
        return self._give(is_final=False)

    def finish(self) -> str:
        """Return what was held back, as nothing follows."""
        return self._give(is_final=True)

    def _give(self, *, is_final: bool) -> str:
        found = self._scan(self._text, self._begin, is_final=is_final)
        given = _render(self._text, found.spans, self._begin, found.settled)
        dropped = max(0, found.settled - CONTEXT)
        self._text = self._text[dropped:]
        self._begin = found.settled - dropped
        return given


def secrets_among(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the secret variables, by their names or by their content."""
    return tuple(value for name, value in variables.items() if is_secret(name, value))


def is_secret(name: str, value: str) -> bool:
    """Return whether a variable holds a secret; a proxy address is needed, even with a password in it."""
    if SECRET_NAME.search(name):
        return True
    is_proxy = name.lower().endswith("_proxy")
    return not is_proxy and bool(scan(f"{name}={value}", 0, KnownSecrets(), is_final=True).spans)


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret as it is, as URLs and JSON spell it, and within anything in base64 or hexadecimal."""
    data = secret.encode("utf-8", "replace")
    yield from (secret, quote(data, safe=""), quote_plus(data), data.hex(), data.hex().upper())
    yield msgspec.json.encode(data.decode()).decode()[1:-1]
    for shift, unsure in enumerate((0, 2, 3)):
        # What stands around it changes the outermost characters; three bytes are four of them.
        until = -1 if (len(data) + shift) % 3 else None
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(bytes(shift) + data).decode().rstrip("=")[unsure:until]


def _placed(found: Scan, view: NormalizedView, begin: int, end: int | None) -> Scan:
    """Put what was found in a view of a text where it is in the text; all is settled where an `end` is given."""
    spans = [(view.place(start), view.place(last - 1) + 1, kind) for start, last, kind in found.spans]
    if end is not None:
        return Scan(spans, end)
    return Scan(spans, max(begin, view.place(found.settled - 1) + 1) if found.settled else begin)


def _end_of_broken(text: str, start: int, end: int, *, is_begun: bool) -> int:
    """Return where a secret ends that goes on in other lines, 0 for one that lies in one line.

    If what is in its first line `is_begun` to be masked anyway, what stands in the last ones may be words of their own.
    """
    lines = text.count("\n", start, end)
    while lines > (not is_begun):
        line_end = text.rfind("\n", start, end)
        is_named = bool(_ASSIGNED.match(text, line_end + 1))
        if text[line_end - 1] == "\\" or (not is_named and _is_random(text[line_end + 1 : end])):
            break
        end = line_end
        lines -= 1
    return end if lines else 0


def _is_random(piece: str) -> bool:
    """Return whether a piece continues a secret, as words do not."""
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
