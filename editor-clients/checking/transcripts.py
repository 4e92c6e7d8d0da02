"""Golden transcripts of editors: how they start the command, what they send, and what the agent must send.

The format of the lines is described in protocol/transcripts/README.md, and the header in editor-clients/README.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

Json = dict[str, Any]

FILE = "check.jsonl"


class BrokenTranscriptError(Exception):
    """A transcript or the settings beside it are invalid."""


@dataclass(frozen=True)
class Start:
    """How the editor starts the agent; the stage replaces `${…}` in the texts.

    `settings` names the file in the editor's folder that a user copies; if that is JSON, `at` is the path of the
    entry with the command. `via` precedes the command, such as a shell. `end` is what the editor does at the end.
    """

    settings: str
    at: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict[str, str])
    cwd: str = "${cwd}"
    end: str = "eof"


@dataclass(frozen=True)
class Header:
    """The initial state of a transcript and the files that exist at its end."""

    about: str
    start: Start
    settings: str
    files: dict[str, str]
    model: tuple[Json, ...]
    leaves: dict[str, str]


@dataclass(frozen=True)
class Line:
    """One frame; `whenever` marks a frame whose position among its neighbours from the same side may vary.

    `saves` are files of the project that the editor writes before it sends this.
    """

    sender: str
    frame: Json
    whenever: bool = False
    saves: dict[str, str] = field(default_factory=dict[str, str])

    def as_json(self) -> Json:
        """Return the line as it is stored in a file."""
        row: Json = {"from": self.sender, "frame": self.frame}
        row |= {"whenever": True} if self.whenever else {}
        return row | ({"saves": self.saves} if self.saves else {})


@dataclass(frozen=True)
class Transcript:
    """One transcript file."""

    path: Path
    header: Header
    lines: tuple[Line, ...]

    @property
    def name(self) -> str:
        """The editor's folder."""
        return self.path.parent.name

    def command(self) -> tuple[list[str], dict[str, str]]:
        """Return the command and the variables according to the settings in the editor's folder."""
        start = self.header.start
        path = self.path.with_name(start.settings)
        text = path.read_text(encoding="utf-8")
        if not start.at:
            if "hermes-acp" not in text:
                raise BrokenTranscriptError(f"{path} does not name the command hermes-acp.")
            return ["hermes-acp"], {}
        entry: Any = json.loads(text)
        try:
            for key in start.at:
                entry = entry[key]
            return [entry["command"], *entry.get("args", [])], entry.get("env", {})
        except (KeyError, TypeError) as fault:
            raise BrokenTranscriptError(f"{path} has no command at {' → '.join(start.at)}.") from fault

    def write(self, lines: list[Line]) -> None:
        """Replace the lines, keeping the header."""
        header = self.path.read_text(encoding="utf-8").splitlines()[0]
        rows = [header, *(json.dumps(line.as_json(), ensure_ascii=False) for line in lines)]
        self.path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def read_transcript(path: Path) -> Transcript:
    """Read one file. Raises BrokenTranscriptError if it is invalid."""
    try:
        first, *rest = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return Transcript(path, _read_header(first), tuple(map(_read_line, rest)))
    except (ValueError, KeyError, TypeError) as fault:
        raise BrokenTranscriptError(f"{path} is not a transcript: {fault!r}") from fault


def _read_header(row: Json) -> Header:
    start = cast("Json", row["start"])
    return Header(
        row["about"],
        Start(
            start["settings"],
            tuple(start.get("at", ())),
            tuple(start.get("via", ())),
            start.get("environment", {}),
            start.get("cwd", "${cwd}"),
            start.get("end", "eof"),
        ),
        row.get("settings", ""),
        row.get("files", {}),
        tuple(row.get("model", ())),
        row.get("leaves", {}),
    )


def _read_line(row: Json) -> Line:
    return Line(row["from"], row.get("frame", {}), row.get("whenever", False), row.get("saves", {}))


def all_transcripts(folder: Path) -> list[Transcript]:
    """Read every editor's transcript, sorted by name."""
    return [read_transcript(path) for path in sorted(folder.glob(f"*/{FILE}"))]
