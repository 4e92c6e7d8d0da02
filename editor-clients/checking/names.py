"""Names for values that differ from run to run, such as session IDs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from .transcripts import BrokenTranscriptError, Json

NAME = re.compile(r"\$\{(\w+)\}")
NAMED = {
    "sessionId": "session",
    "messageId": "message",
    "updatedAt": "time",
    "version": "version",
}
SHORT = 6
"""Values of up to this length may occur anywhere by chance, so they are not searched for inside texts."""


class Names:
    """The values of the names in a transcript; a name gets its value when it first appears."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._values: dict[str, object] = dict(known)

    def filled(self, value: Any) -> Any:
        """Replace names with values. Raises BrokenTranscriptError for a name that has no value yet."""
        if isinstance(value, dict):
            return {key: self.filled(each) for key, each in cast("Json", value).items()}
        if isinstance(value, list):
            return [self.filled(each) for each in cast("list[Any]", value)]
        if not isinstance(value, str):
            return value
        if whole := NAME.fullmatch(value):
            return self._value(whole[1])
        return NAME.sub(lambda found: str(self._value(found[1])), value)

    def _value(self, name: str) -> object:
        if name not in self._values:
            raise BrokenTranscriptError(f"The agent has not sent a value for ${{{name}}} yet.")
        return self._values[name]

    def fits(self, golden: Any, received: Any) -> bool:
        """Compare a frame with the expected one; new names are kept only if everything matches."""
        before = dict(self._values)
        if self._fits(golden, received):
            return True
        self._values = before
        return False

    def _fits(self, golden: Any, received: Any) -> bool:
        if isinstance(golden, dict) and isinstance(received, dict):
            ours, theirs = cast("Json", golden), cast("Json", received)
            return ours.keys() == theirs.keys() and all(self._fits(ours[key], theirs[key]) for key in ours)
        if isinstance(golden, list) and isinstance(received, list):
            rows, others = cast("list[Any]", golden), cast("list[Any]", received)
            return len(rows) == len(others) and all(map(self._fits, rows, others))
        if isinstance(golden, str) and (whole := NAME.fullmatch(golden)):
            return self._values.setdefault(whole[1], received) == received
        if isinstance(golden, str) and NAME.search(golden):
            return isinstance(received, str) and self._fits_text(golden, received)
        plain = cast("object", golden)
        return type(plain) is type(received) and plain == received

    def _fits_text(self, golden: str, received: str) -> bool:
        pieces = NAME.split(golden)
        pattern = "".join(
            (re.escape(str(self._values[piece])) if piece in self._values else ".+?")
            if at % 2
            else re.escape(piece)
            for at, piece in enumerate(pieces)
        )
        return re.fullmatch(pattern, received, re.DOTALL) is not None


class Naming:
    """Assigns names in order of appearance, while a transcript is recorded."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self.values: dict[str, object] = dict(known)

    def named(self, frame: Json) -> Json:
        """Return a frame of the agent with names in place of values, as it is recorded."""
        if "method" in frame and "id" in frame:
            frame = frame | {"id": self._name("ask", frame["id"])}
        return {key: self._named(key, each) for key, each in frame.items()}

    def _name(self, kind: str, value: object) -> str:
        alike = [name for name in self.values if name.rstrip("_0123456789") == kind]
        for name in alike:
            if self.values[name] == value:
                return f"${{{name}}}"
        name = kind if not alike else f"{kind}_{len(alike) + 1}"
        self.values[name] = value
        return f"${{{name}}}"

    def _named(self, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            row = cast("Json", value)
            if "outputByteLimit" in row:
                row = row | {"command": self._name("shell", row["command"])}
            return {name: self._named(name, each) for name, each in row.items()}
        if isinstance(value, list):
            return [self._named(key, each) for each in cast("list[Any]", value)]
        if not isinstance(value, str) or NAME.search(value):
            return value
        if key in NAMED:
            return self._name(NAMED[key], value)
        return self._without_values(value)

    def _without_values(self, text: str) -> str:
        known = [(value, name) for name, value in self.values.items() if isinstance(value, str)]
        for value, name in sorted(known, key=lambda pair: -len(pair[0])):
            if len(value) > SHORT:
                text = text.replace(value, f"${{{name}}}")
        return text
