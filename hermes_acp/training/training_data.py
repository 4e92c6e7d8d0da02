"""The data of a training run: an export of sessions, checked against its manifest and read record by record."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec
from msgspec import Struct, field

from hermes_acp.core.errors import BadRequest
from hermes_acp.storage.private_files import storage_error

FORMATS: Final = MappingProxyType({"sft": "messages", "dpo": "dpo"})
"""The export format that each method requires."""
ROLES: Final = frozenset({"system", "user", "assistant", "tool"})
EXPORT_HINT: Final = "Export the sessions again: hermes-acp sessions export --all --format {form} --out FILE"


class _ExportedFile(Struct):
    name: str
    sha256: str
    bytes: int = 0


class _Manifest(Struct):
    """The fields read from a manifest; `redaction` says that the export was cleaned."""

    program: str
    format: str
    files: list[_ExportedFile]
    redaction: str
    licence: str
    counts: dict[str, int] = field(default_factory=dict[str, int])
    models: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


class TrainingData(Struct, frozen=True):
    """A data file that matches its manifest: the records, sessions, models that wrote the answers, and licence note."""

    path: Path
    sha256: str
    records: int
    sessions: int
    models: tuple[str, ...]
    licence: str


def check_data(named: str, method: str) -> TrainingData:
    """Check a data file and its manifest. Raises BadRequest that says what is wrong and where, or StorageError."""
    path = Path(named).expanduser()
    content = _read(path)
    manifest = _manifest_of(path, FORMATS[method])
    digest = sha256(content).hexdigest()
    if digest not in {file.sha256 for file in manifest.files if file.name == path.name}:
        raise _unusable(f"{path} is not the file that its manifest describes.", FORMATS[method])
    records = parse_records(content, str(path), method)
    models = tuple(sorted({str(each.get("model", "")) for each in manifest.models} - {""}))
    return TrainingData(
        path, digest, len(records), manifest.counts.get("sessions", 0), models, manifest.licence
    )


def read_records(path: Path, digest: str, method: str) -> list[dict[str, Any]]:
    """Read the records that were confirmed. Raises BadRequest if the file has changed since, or StorageError."""
    content = _read(path)
    if sha256(content).hexdigest() != digest:
        raise BadRequest(f"{path} has changed since the training was confirmed.", hint="Start it again.")
    return parse_records(content, str(path), method)


def parse_records(content: bytes, name: str, method: str) -> list[dict[str, Any]]:
    """Parse and check every line. Raises BadRequest that names the line."""
    records: list[dict[str, Any]] = []
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _unusable(
                f"{name}, line {number}: not a JSON object ({error}).", FORMATS[method]
            ) from error
        if fault := _fault(record, method):
            raise _unusable(f"{name}, line {number}: {fault}.", FORMATS[method])
        records.append(record)
    if not records:
        raise _unusable(f"{name} contains no record to learn from.", FORMATS[method])
    return records


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise BadRequest(f"There is no {path}.", hint="Correct `data` in the training file.") from error
    except OSError as error:
        raise storage_error("read", path, error) from error


def _manifest_of(path: Path, form: str) -> _Manifest:
    place = path.with_name(f"{path.name}.manifest.json")
    try:
        manifest = msgspec.json.decode(place.read_bytes(), type=_Manifest)
    except FileNotFoundError as error:
        raise _unusable(f"{path} has no manifest ({place.name}).", form) from error
    except OSError as error:
        raise storage_error("read", place, error) from error
    except msgspec.DecodeError as error:
        raise _unusable(f"{place} is not the manifest of an export ({error}).", form) from error
    if not manifest.program.startswith("hermes-acp") or not manifest.redaction:
        raise _unusable(f"{place} does not say how secrets and names were replaced.", form)
    if manifest.format != form:
        raise _unusable(f"{path} was exported as {manifest.format}, and this method needs {form}.", form)
    return manifest


def _unusable(message: str, form: str) -> BadRequest:
    return BadRequest(message, hint=EXPORT_HINT.format(form=form))


def _fault(record: Mapping[str, Any], method: str) -> str:
    """Return what is wrong with a record, or an empty string."""
    parts = ("messages",) if method == "sft" else ("prompt", "chosen", "rejected")
    for part in parts:
        messages = record.get(part)
        if not isinstance(messages, list) or not messages:
            return f"`{part}` must be a list of messages"
        for place, message in enumerate(cast("list[object]", messages)):
            if fault := _message_fault(message):
                return f"`{part}[{place}]` {fault}"
    answers = cast("list[dict[str, Any]]", record[parts[-1]])
    if not any(message["role"] == "assistant" for message in answers):
        return f"`{parts[-1]}` has no answer of the assistant"
    if not isinstance(record.get("tools", []), list):
        return "`tools` must be a list"
    return ""


def _message_fault(message: object) -> str:
    if not isinstance(message, dict):
        return "must be an object"
    fields = cast("dict[str, Any]", message)
    if fields.get("role") not in ROLES:
        return f"must have a `role` of {', '.join(sorted(ROLES))}"
    if not isinstance(fields.get("content"), str):
        return "must have text as `content`"
    return ""
