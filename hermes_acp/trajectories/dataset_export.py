"""Write sessions as one data set: read, clean and convert one session after another into a single file."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final, Literal

import msgspec

from hermes_acp.storage.tool_schema_store import ToolSchemaStore
from hermes_acp.telemetry.secret_masks import count_masks
from hermes_acp.trajectories.atif_document import Trajectory
from hermes_acp.trajectories.atif_export import trajectory_of
from hermes_acp.trajectories.chat_formats import chat_record, sharegpt_record
from hermes_acp.trajectories.event_cleaning import CleanSession, SessionCleaner
from hermes_acp.trajectories.export_manifest import ManifestBuilder
from hermes_acp.trajectories.preference_pairs import preferences_of
from hermes_acp.trajectories.recorded_sessions import read_session

DatasetFormat = Literal["atif", "messages", "sharegpt", "dpo"]
FORMATS: Final[tuple[DatasetFormat, ...]] = ("atif", "messages", "sharegpt", "dpo")


class DatasetExport:
    """An export in progress. `digest` is the SHA-256 of the bytes written so far."""

    def __init__(
        self, form: DatasetFormat, cleaner: SessionCleaner, schemas: ToolSchemaStore, *, is_single: bool
    ) -> None:
        """Initialise; a `single` ATIF trajectory is one indented document, several are written one per line."""
        self._form: DatasetFormat = form
        self._cleaner = cleaner
        self._schemas = schemas
        self._is_indented = is_single and form == "atif"
        self._whole = sha256()
        self._size_bytes = 0
        self.manifest = ManifestBuilder()

    def add(self, record: Path, target: IO[bytes]) -> None:
        """Write the session of a record. Blocks. Raises StorageError, and OSError if the target cannot be written."""
        recorded = read_session(record, self._schemas)
        session = self._cleaner.clean(recorded)
        trajectory = trajectory_of(session)
        written = sha256()
        for line in self._lines(session, trajectory):
            target.write(line)
            written.update(line)
            self._whole.update(line)
            self._size_bytes += len(line)
            self.manifest.totals.records += 1
            self.manifest.masks += count_masks(line.decode())
        self.manifest.add(recorded, session, trajectory, written.hexdigest())

    def _lines(self, session: CleanSession, trajectory: Trajectory) -> Iterator[bytes]:
        match self._form:
            case "atif":
                text = msgspec.json.encode(trajectory)
                yield (msgspec.json.format(text, indent=2) if self._is_indented else text) + b"\n"
            case "messages":
                yield from (_line(chat_record(each)) for each in _with_children(trajectory))
            case "sharegpt":
                yield from (_line(sharegpt_record(each)) for each in _with_children(trajectory))
            case "dpo":
                found = preferences_of(session, trajectory)
                self.manifest.unpaired += found.unpaired
                yield from map(_line, found.pairs)

    def document(self, name: str, created_at: str) -> bytes:
        """Return the manifest of the written file, as JSON."""
        file = {"name": name, "sha256": self._whole.hexdigest(), "bytes": self._size_bytes}
        document = self.manifest.document(self._form, created_at, [file])
        return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _with_children(trajectory: Trajectory) -> Iterator[Trajectory]:
    yield trajectory
    for child in trajectory.subagent_trajectories or ():
        yield from _with_children(child)


def _line(record: dict[str, Any]) -> bytes:
    return msgspec.json.encode(record) + b"\n"
