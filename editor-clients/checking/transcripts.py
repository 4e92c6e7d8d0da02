"""A golden transcript of one editor: how it starts the command, what it sends, and what the agent must send.

The lines are those of protocol/transcripts/README.md; the header is described in editor-clients/README.md.
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
    """How the editor starts the agent; `${…}` in its texts is filled in by the stage.

    `settings` names the file in the editor's folder that a user copies; if that is JSON, `at` is the path of the
    entry with the command. `via` precedes the command, as a shell does. `end` is what the editor does when it is
    done.
    """

    settings: str
    at: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict[str, str])
    cwd: str = "${cwd}"
    end: str = "eof"


@dataclass(frozen=True)
class Header:
    """The initial state of a transcript, and the files that it leaves behind."""

    about: str
    start: Start
    settings: str
    files: dict[str, str]
    model: tuple[Json, ...]
    leaves: dict[str, str]


@dataclass(frozen=True)
class Line:
    """One frame; `whenever` marks one whose position among its neighbours of the same side is open.

    `saves` are files of the project that the editor writes before it sends this.
    """

    sender: str
    frame: Json
    whenever: bool = False
    saves: dict[str, str] = field(default_factory=dict[str, str])

    def as_json(self) -> Json:
        """Return it as it is stored in a file."""
        row: Json = {"from": self.sender, "frame": self.frame}
        row |= {"whenever": True} if self.whenever else {}
        return row | ({"saves": self.saves} if self.saves else {})


@dataclass(frozen=True)
class Transcript:
    """One file."""

    path: Path
    header: Header
    lines: tuple[Line, ...]

    @property
    def name(self) -> str:
        """The editor's folder."""
        return self.path.parent.name

    def command(self) -> tuple[list[str], dict[str, str]]:
        """Read the command and the variables that the settings of this folder give it."""
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
        """Put other lines after the same header."""
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
