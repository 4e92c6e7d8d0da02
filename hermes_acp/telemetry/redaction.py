"""Keeping secrets out of what is shown, recorded and sent to a model.

Knows: the values that must not appear, however they are spelled; colours that stand in between; what is put in their
place. Does not know: where text comes from. What a secret looks like is told by `scanning`.
"""

import re
from base64 import b64encode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol
from urllib.parse import quote, quote_plus

import msgspec

from hermes_acp.telemetry.masks import mask_of
from hermes_acp.telemetry.scanning import CONTEXT, Known, Scan, Span, know, scan

SECRET_NAME: Final = re.compile(
    "KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_(?:PASS|PWD|AUTH|COOKIE|DSN|PAT)$"
    "|^(?:DATABASE|REDIS|MONGO(?:DB)?|POSTGRES|MYSQL|AMQP|RABBITMQ|BROKER|SENTRY)_UR[IL]$|CONNECTION_STRING",
    re.IGNORECASE,
)
SHORTEST: Final = 8
WINDOW: Final = 24 * 1024
_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]{0,32}(?:[ -/]{0,4}[@-~]|\Z)|\x1b\Z")


class Look(Protocol):
    """How the secrets of a text are found, from a settled place on."""

    def __call__(self, text: str, begin: int, *, is_final: bool) -> Scan:
        """Look."""
        ...


class Redactor:
    """Replaces secrets in any text: the known ones, and all whose shape or name gives them away."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {secret for secret in secrets if len(secret) >= SHORTEST}
        self._known = know(each for secret in known for each in _spellings(secret))

    def clean(self, text: str) -> str:
        """Give the text without any of them."""
        found = self._scan(text, 0, is_final=True)
        return _render(text, found.spans, 0, len(text))

    def stream(self) -> "RedactedStream":
        """Clean a text that comes in pieces."""
        return RedactedStream(self._scan)

    def tail(self, text: str, size: int, *, is_final: bool) -> str:
        """Clean the last `size` characters of a text of which at least WINDOW more are given, or all there are.

        What may be the beginning of a secret is left out unless the text `is_final`.
        """
        found = self._scan(text, 0, is_final=is_final)
        start = max(0, found.settled - size)
        start = next((last for first, last, _ in found.spans if first < start < last), start)
        return _render(text, found.spans, start, found.settled)

    def _scan(self, text: str, begin: int, *, is_final: bool) -> Scan:
        if "\x1b" not in text:
            return scan(text, begin, self._known, is_final=is_final)
        plain, places = _without_colours(text)
        found = scan(plain, bisect_right(places, begin - 1), self._known, is_final=is_final)
        spans = [(places[start], places[end - 1] + 1, kind) for start, end, kind in found.spans]
        if is_final:
            return Scan(spans, len(text))
        return Scan(spans, max(begin, places[found.settled - 1] + 1) if found.settled else begin)


class RedactedStream:
    """One text that comes in pieces, cleaned as it comes; wherever it is cut, the whole is the same.

    Only what may be the beginning of a secret is held back, a few dozen kilobytes at most.
    """

    def __init__(self, look: Look) -> None:
        self._scan = look
        self._text = ""
        self._begin = 0

    def feed(self, text: str) -> str:
        """Take a piece; give what is settled."""
        self._text += text
        return self._give(is_final=False)

    def finish(self) -> str:
        """Give what was held back, as nothing more comes."""
        return self._give(is_final=True)

    def _give(self, *, is_final: bool) -> str:
        found = self._scan(self._text, self._begin, is_final=is_final)
        given = _render(self._text, found.spans, self._begin, found.settled)
        dropped = max(0, found.settled - CONTEXT)
        self._text = self._text[dropped:]
        self._begin = found.settled - dropped
        return given


def secrets_among(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Give the values of the variables that are secret, by their names or by what they hold."""
    return tuple(value for name, value in variables.items() if is_secret(name, value))


def is_secret(name: str, value: str) -> bool:
    """Say whether a variable holds a secret; the address of a proxy is needed, even with a password in it."""
    if SECRET_NAME.search(name):
        return True
    is_proxy = name.lower().endswith("_proxy")
    return not is_proxy and bool(scan(f"{name}={value}", 0, Known(), is_final=True).spans)


def _spellings(secret: str) -> Iterator[str]:
    """Give a secret as it is, as URLs and JSON spell it, and within anything in base64 or hexadecimal."""
    data = secret.encode("utf-8", "replace")
    yield from (secret, quote(data, safe=""), quote_plus(data), data.hex(), data.hex().upper())
    yield msgspec.json.encode(data.decode()).decode()[1:-1]
    for shift, unsure in enumerate((0, 2, 3)):
        # What stands around it changes the outermost characters; three bytes are four of them.
        until = -1 if (len(data) + shift) % 3 else None
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(bytes(shift) + data).decode().rstrip("=")[unsure:until]


def _without_colours(text: str) -> tuple[str, list[int]]:
    """Give the text without control sequences, and where each of its characters stood."""
    places: list[int] = []
    done = 0
    for match in _COLOURS.finditer(text):
        places.extend(range(done, match.start()))
        done = match.end()
    places.extend(range(done, len(text)))
    return _COLOURS.sub("", text), places


def _render(text: str, spans: Iterable[Span], start: int, end: int) -> str:
    pieces: list[str] = []
    for first, last, kind in spans:
        if first >= start:
            pieces += (text[start:first], mask_of(kind))
            start = last
    pieces.append(text[start:end])
    return "".join(pieces)
