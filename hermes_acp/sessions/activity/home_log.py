"""Read the activity in a home folder from its existing files: the newest entries, or new ones as they arrive.

Turns, requests, calls and state changes are in the session records; changes to memory, skills and tools are in their
histories; decisions, settings and telemetry are in `logs/*.jsonl`. Nothing is written twice. All functions block.
"""

import heapq
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from hermes_acp.memory.note_changes import NoteChange
from hermes_acp.sessions.activity.log_entries import LogEntry, LogKind, entries_of_record
from hermes_acp.storage.record_lines import decode_timed
from hermes_acp.storage.version_history import Version

LOGS: Final[tuple[tuple[str, LogKind], ...]] = (
    ("decisions", "decision"),
    ("usage", "request"),
    ("changes", "change"),
)
TELEMETRY: Final = frozenset({"export_trouble", "telemetry_off"})
IN_RECORDS: Final = frozenset({"turn", "request", "call", "approval", "run", "state", "notice"})
MAX_LINE_BYTES: Final = 64 * 1024


class LogFilter(Struct, frozen=True):
    """Selects entries by kind (empty means all), by session (including its child agents) and by time."""

    kinds: tuple[str, ...] = ()
    session: str = ""
    since: float = 0.0
    until: float | None = None

    def takes(self, entry: LogEntry) -> bool:
        """Return whether the entry passes the filter."""
        if self.kinds and entry.kind not in self.kinds:
            return False
        if self.session and entry.session.partition(".")[0] != self.session.partition(".")[0]:
            return False
        return entry.at >= self.since and (self.until is None or entry.at < self.until)


class HomeLog:
    """The activity log of one home folder."""

    def __init__(self, home: Path, clean: Callable[[str], str]) -> None:
        """Initialise the log without reading anything. `clean` masks secrets."""
        self._home = home
        self._clean = clean
        self.damaged = 0
        """The number of lines and files that could not be read so far."""

    def newest(self, wanted: LogFilter, limit: int) -> list[LogEntry]:
        """Return the newest entries, oldest first. Reads only as many records as needed."""
        heap: list[tuple[float, int, LogEntry]] = []
        number = 0

        def add(entries: Iterable[LogEntry]) -> None:
            nonlocal number
            for entry in entries:
                if wanted.takes(entry):
                    number += 1
                    push = heapq.heappush if len(heap) < limit else heapq.heappushpop
                    push(heap, (entry.at, number, entry))

        add(self._beside_records())
        if not wanted.kinds or IN_RECORDS & set(wanted.kinds):
            for changed_at, path in self.records(wanted.session):
                is_full = len(heap) >= limit and heap[0][0] > changed_at
                if is_full or changed_at < wanted.since:
                    break  # all remaining records were last written before the oldest entry found
                add(self.entries_of(path))
        return [entry for _, _, entry in sorted(heap)]

    def records(self, session: str = "") -> list[tuple[float, Path]]:
        """Return the record files and mtimes of all sessions and child agents, or of one session, newest first."""
        outermost = session.partition(".")[0]
        found = [
            (changed_at, path)
            for changed_at, path in _files(self._home / "sessions")
            if not outermost or path.stem.partition(".")[0] == outermost
        ]
        return sorted(found, reverse=True)

    def entries_of(self, path: Path) -> list[LogEntry]:
        """Return the entries of one record, up to its first damaged line."""
        try:
            content = path.read_bytes()
        except OSError:
            self.damaged += 1
            return []
        return list(entries_of_record(path.stem, decode_timed(content), self._clean))

    def watched(self) -> dict[Path, tuple[float, int]]:
        """Return every file that entries come from, with its mtime and size."""
        places = [path for _, path in _files(self._home / "sessions")]
        places += [self._home / "logs" / f"{name}.jsonl" for name, _ in LOGS]
        places.append(self._home / "history" / "note-changes.jsonl")
        places += (self._home / "history").glob("*/*/versions/*.json")
        found: dict[Path, tuple[float, int]] = {}
        for path in places:
            with suppress(OSError):
                state = path.stat()
                found[path] = (state.st_mtime, state.st_size)
        return found

    def is_record(self, path: Path) -> bool:
        """Return whether the file is the record of a session or a child agent."""
        return self._home / "sessions" in path.parents

    def beside_records(self) -> list[LogEntry]:
        """Return all entries that do not come from session records, in chronological order."""
        return sorted(self._beside_records(), key=lambda entry: entry.at)

    def _beside_records(self) -> Iterator[LogEntry]:
        for name, kind in LOGS:
            for path in (self._home / "logs" / f"{name}.1.jsonl", self._home / "logs" / f"{name}.jsonl"):
                for line in self._lines(path):
                    if entry := _logged(line, kind, self._clean):
                        yield entry
                    else:
                        self.damaged += 1
        yield from self._note_changes()
        for kind in ("skills", "tools"):
            yield from self._versions(kind)

    def _lines(self, path: Path) -> Iterator[bytes]:
        try:
            with path.open("rb") as file:
                while line := file.readline(MAX_LINE_BYTES):
                    if line.strip():
                        yield line
        except FileNotFoundError:
            return
        except OSError:
            self.damaged += 1

    def _note_changes(self) -> Iterator[LogEntry]:
        for line in self._lines(self._home / "history" / "note-changes.jsonl"):
            try:
                change = msgspec.json.decode(line, type=NoteChange)
            except msgspec.MsgspecError:
                self.damaged += 1
                continue
            done = "changed" if change.gone and change.come else "added" if change.come else "removed"
            facts: dict[str, str | int | float | bool] = {"turn": change.moment.turn_id}
            what = f"memory {Path(change.file).name or change.store}"
            yield LogEntry(
                change.moment.at, "change", what, change.moment.session_id, "agent", done, facts=facts
            )
            if change.undone_by:
                yield LogEntry(
                    change.undone_at, "change", what, change.moment.session_id, "user", "undone", facts=facts
                )

    def _versions(self, kind: str) -> Iterator[LogEntry]:
        for path in (self._home / "history" / kind).glob("*/versions/*.json"):
            try:
                version = msgspec.json.decode(path.read_bytes(), type=Version)
            except (OSError, msgspec.MsgspecError):
                self.damaged += 1
                continue
            cause = version.cause
            outcome = "removed" if version.is_gone else f"version {version.number}"
            what = f"{kind.removesuffix('s')} {Path(version.folder).name}"
            facts: dict[str, str | int | float | bool] = {"files": len(version.files)}
            yield LogEntry(cause.at, "change", what, cause.session_id, cause.who, outcome, facts=facts)


def _files(folder: Path) -> Iterator[tuple[float, Path]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield entry.stat().st_mtime, Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    yield from _files(Path(entry.path))


def _logged(line: bytes, kind: LogKind, clean: Callable[[str], str]) -> LogEntry | None:
    """Return the entry in a line of `logs/*.jsonl`, or None if the line is damaged."""
    try:
        said = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None
    known = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    at, what = known.pop("at", None), known.pop("what", None)
    if not isinstance(at, int | float) or not isinstance(what, str):
        return None
    facts = {
        name: clean(value) if isinstance(value, str) else value
        for name, value in known.items()
        if isinstance(value, str | int | float)
    }
    session, who, took_s = facts.pop("session", ""), facts.pop("who", "program"), facts.pop("took_s", None)
    took = float(took_s) if isinstance(took_s, int | float) else None
    outcome = str(facts.pop("outcome", ""))
    kind = "telemetry" if what in TELEMETRY else kind
    return LogEntry(float(at), kind, clean(what), str(session), str(who), outcome, took, facts)
