"""Golden transcripts: files of frames, with names for the values that differ from run to run.

A file's first line is its header; protocol/transcripts/README.md describes both.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from tests.model_server import Reply

FOLDER = Path(__file__).parents[2] / "protocol" / "transcripts"
NAME = re.compile(r"\$\{(\w+)\}")
MARK = re.compile(r"(?<=Mark )[0-9a-f]{8}\b|(?<=End of output )[0-9a-f]{8}\b")
NAMED = {
    "sessionId": "session",
    "messageId": "message",
    "compactionId": "compaction",
    "elicitationId": "page",
    "updatedAt": "time",
    "nextCursor": "cursor",
    "requestId": "call",
    "progressToken": "token",
    "toolCallId": "tool_call",
}
Json = dict[str, Any]


WITHOUT_SKILLS = "skills: {enabled: false}\n"
"""Skills are not offered as commands, because that would happen at an arbitrary moment."""


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """The initial state of a transcript, and the files that it leaves behind."""

    about: str
    protocol: Literal[1, 2] = 1
    environment: dict[str, str] = {}
    settings: str = ""
    files: dict[str, str] = {}
    model: list[Json] = []
    leaves: dict[str, str] = {}

    @property
    def replies(self) -> tuple[Reply, ...]:
        """The scripted model's replies, in order; a hold never ends, since nobody opens its gate."""
        return decode_replies(self.model)

    @property
    def schema(self) -> str:
        """The pinned schema that every frame must match."""
        if self.protocol > 1:
            return "v2.unstable" if self.is_unstable else "v2"
        return "v1.unstable" if self.is_unstable else "v1"

    @property
    def is_unstable(self) -> bool:
        """Whether the unstable half of the protocol is offered."""
        return "HERMES_ACP_UNSTABLE" in self.environment


class Line(Struct, frozen=True, omit_defaults=True, rename={"sender": "from"}, forbid_unknown_fields=True):
    """One line: a frame, bytes that are not a frame (`text`), or files that the client saves before it continues.

    `whenever` marks a frame whose position among the agent's frames, up to the client's next one, is open.
    """

    sender: Literal["client", "agent"]
    frame: Json | None = None
    text: str | None = None
    saves: dict[str, str] | None = None
    whenever: bool = False


class Transcript(Struct, frozen=True):
    """The header and the lines of one transcript file."""

    path: Path
    header: Header
    lines: tuple[Line, ...]

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    def frames(self, sender: str) -> Iterator[Json]:
        """Return what one side sends, in order."""
        return (line.frame for line in self.lines if line.sender == sender and line.frame is not None)

    def write(self, lines: list[Line]) -> None:
        """Return a transcript with the same header and other lines."""
        rows = [_plain(self.header), *map(_plain, lines)]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        self.path.write_text(text, encoding="utf-8")


def decode_replies(model: list[Json]) -> tuple[Reply, ...]:
    """Parse the model's script; the format is that of tests/model_server/script.py."""
    import anyio

    def gate(wanted: type[Any], value: object) -> object:
        assert wanted is anyio.Event, value
        return anyio.Event()

    return msgspec.convert(model, tuple[Reply, ...], dec_hook=gate)


def _plain(row: Header | Line) -> object:
    plain = cast("Json", msgspec.to_builtins(row))
    if isinstance(row, Line):
        return plain
    return {key: value for key, value in plain.items() if value or key == "protocol"}


def read_transcript(path: Path) -> Transcript:
    """Read one file; msgspec.ValidationError names what does not match."""
    first, *rest = path.read_bytes().splitlines()
    header = msgspec.json.decode(first, type=Header)
    return Transcript(path, header, tuple(msgspec.json.decode(line, type=Line) for line in rest))


def all_transcripts() -> list[Path]:
    """Return every file, sorted by name."""
    return sorted(FOLDER.glob("*/*.jsonl"))


def _kind_of(name: str) -> str:
    return name.rstrip("_0123456789")


class Names:
    """The values of the names in a transcript; `seen` takes a name's value when it first appears."""

    def __init__(self, known: Mapping[str, object]) -> None:
        self._values: dict[str, object] = dict(known)

    def filled(self, value: Any) -> Any:
        """Replace names with their values. Raises KeyError for a name that has no value yet."""
        match value:
            case dict():
                return {key: self.filled(each) for key, each in cast("Json", value).items()}
            case list():
                return [self.filled(each) for each in cast("list[Any]", value)]
            case str():
                if whole := NAME.fullmatch(value):
                    return self._values[whole[1]]
                return NAME.sub(lambda found: str(self._values[found[1]]), value)
            case _:
                return value

    def fits(self, expected: Any, received: Any) -> bool:
        """Compare a frame with its line; new names are kept only if the whole frame matches."""
        before = dict(self._values)
        if self._fits(expected, received):
            return True
        self._values = before
        return False

    def _fits(self, expected: Any, received: Any) -> bool:
        if isinstance(expected, dict):
            ours = cast("Json", expected)
            theirs = cast("Json", received) if isinstance(received, dict) else {}
            return ours.keys() == theirs.keys() and all(self._fits(ours[key], theirs[key]) for key in ours)
        if isinstance(expected, list):
            rows = cast("list[Any]", expected)
            others = cast("list[Any]", received) if isinstance(received, list) else []
            return len(rows) == len(others) and all(map(self._fits, rows, others))
        if isinstance(expected, str) and (whole := NAME.fullmatch(expected)):
            if whole[1] not in self._values and received not in self._alike(whole[1]):
                self._values[whole[1]] = received
            return self._values.get(whole[1]) == received
        if isinstance(expected, str) and NAME.search(expected):
            return isinstance(received, str) and self._fits_text(expected, received)
        return type(expected) is type(received) and expected == received

    def _alike(self, name: str) -> list[object]:
        """Return the values of names of the same kind: a second session must not get the first one's ID."""
        kind = _kind_of(name)
        return [value for known, value in self._values.items() if _kind_of(known) == kind]

    def _fits_text(self, expected: str, received: str) -> bool:
        """Compare a text with names in it; a name without a value yet takes the text in its place."""
        fresh: set[str] = set()

        def pattern_of(name: str) -> str:
            if name in self._values:
                return re.escape(str(self._values[name]))
            if name in fresh:
                return f"(?P={name})"
            fresh.add(name)
            return f"(?P<{name}>.+?)"

        pieces = NAME.split(expected)
        pattern = "".join(
            pattern_of(piece) if at % 2 else re.escape(piece) for at, piece in enumerate(pieces)
        )
        found = re.fullmatch(pattern, received, re.DOTALL)
        self._values |= found.groupdict() if found else {}
        return found is not None


class Naming:
    """Names for values that differ from run to run, assigned in order of appearance while a transcript is recorded.

    Values that occur in the client's own lines, such as the ID of a missing session, are written unchanged.
    """

    def __init__(self, known: Mapping[str, object], spelled: str = "") -> None:
        self.values: dict[str, object] = dict(known)
        self._spelled = spelled

    def named(self, frame: Json) -> Json:
        """Return a frame from the agent as it is recorded."""
        if "method" in frame and "id" in frame:
            frame = frame | {"id": self._name("ask", frame["id"])}
        return self._named("", frame)

    def _name(self, kind: str, value: object) -> str:
        for name, known in self.values.items():
            if known == value and _kind_of(name) == kind:
                return f"${{{name}}}"
        count = sum(_kind_of(name) == kind for name in self.values) + 1
        name = kind if count == 1 else f"{kind}_{count}"
        self.values[name] = value
        return f"${{{name}}}"

    def _named(self, key: str, value: Any) -> Any:
        match value:
            case dict():
                plain = cast("Json", value)
                if plain.get("name") == "hermes-acp" and "version" in plain:
                    plain = plain | {"version": self._name("version", plain["version"])}
                if "outputByteLimit" in plain:
                    plain = plain | {"command": self._name("shell", plain["command"])}
                return {name: self._named(name, each) for name, each in plain.items()}
            case list():
                return [self._named(key, each) for each in cast("list[Any]", value)]
            case str() if NAME.search(value):
                return value
            case str() if key in NAMED and f'"{value}"' not in self._spelled:
                return self._name(NAMED[key], value)
            case int() if key == "requestId":
                return self._name("ask", value)
            case int() if key == "progressToken":
                return self._name("token", value)
            case str():
                return self._without_values(value)
            case _:
                return value

    def _without_values(self, text: str) -> str:
        known = [(name, value) for name, value in self.values.items() if isinstance(value, str)]
        for name, value in sorted(known, key=lambda pair: -len(pair[1])):
            if len(value) > 6:
                text = text.replace(value, f"${{{name}}}")
        return MARK.sub(lambda found: self._name("mark", found[0]), text)
