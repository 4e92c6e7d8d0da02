"""The prompts file of a batch: one JSON object per line, validated as a whole before anything starts."""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import DEFAULT_PRIORITY, MAX_PRIORITY, MIN_PRIORITY, RunBudget
from hermes_acp.runs.session_driver import MODES

LINE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
MAX_REPORTED: Final = 20
UNKNOWN_FIELD: Final = re.compile(r"Object contains unknown field `(?P<field>[^`]*)`")
MISSING_FIELD: Final = re.compile(r"Object missing required field `(?P<field>[^`]*)`")
WRONG_TYPE: Final = re.compile(r"Expected `(?P<wanted>[^`]*)`, got `(?P<given>[^`]*)`")
TYPE_NAMES: Final = (
    ("str", "a text"),
    ("int", "a whole number"),
    ("float", "a number"),
    ("object", "an object"),
    ("dict", "an object"),
    ("array", "a list"),
    ("bool", "true or false"),
    ("null", "null"),
)


class LineDefaults(Struct, frozen=True):
    """Defaults for fields that a line omits. Relative workspaces start from `folder`."""

    folder: Path
    mode: str = ""
    model: str = ""
    backend: str = ""


class BatchLine(Struct, frozen=True, forbid_unknown_fields=True):
    """One prompt of a batch. `metadata` is copied to its result."""

    id: str
    prompt: str
    workspace: str = ""
    mode: str = ""
    model: str = ""
    backend: str = ""
    priority: int = DEFAULT_PRIORITY
    budget: RunBudget = RunBudget()
    metadata: dict[str, Any] = {}

    def digest(self) -> str:
        """Return a digest of everything that determines the run."""
        return sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


class _StrictBudget(RunBudget, frozen=True, forbid_unknown_fields=True):
    """A budget in the form used in the file."""


class _WrittenLine(BatchLine, frozen=True, forbid_unknown_fields=True):
    """A line in the form used in the file."""

    budget: _StrictBudget = _StrictBudget()


def read_lines(file: Path, defaults: LineDefaults) -> Sequence[BatchLine]:
    """Return the lines of a prompts file. Blocks. Raises a BadRequest that lists every error with line and field."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadRequest(f"Could not read {file}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise BadRequest(f"{file} is not UTF-8: invalid byte at offset {error.start}.") from error
    lines: list[BatchLine] = []
    errors: list[str] = []
    numbers: dict[str, int] = {}
    for number, written in enumerate(text.split("\n"), start=1):
        if not written.strip():
            continue
        try:
            line = _parse(written, defaults)
        except ValueError as error:
            errors.append(f"line {number}: {error}")
            continue
        if line.id in numbers:
            errors.append(f"line {number}: id {line.id!r} is also in line {numbers[line.id]}")
        numbers.setdefault(line.id, number)
        lines.append(line)
    if errors:
        more = f"\n  and {len(errors) - MAX_REPORTED} more" if len(errors) > MAX_REPORTED else ""
        listed = "".join(f"\n  {each}" for each in errors[:MAX_REPORTED])
        raise BadRequest(f"Nothing was started. Correct these lines of {file}:{listed}{more}")
    if not lines:
        raise BadRequest(
            f"{file} has no lines.", hint='Write one JSON object per line: {"id": …, "prompt": …}'
        )
    return lines


def _parse(written: str, defaults: LineDefaults) -> BatchLine:
    """Parse one line, filling in defaults. Raises a ValueError that names the field."""
    try:
        line = msgspec.json.decode(written, type=_WrittenLine)
    except msgspec.ValidationError as error:
        raise ValueError(_explained(str(error))) from error
    except msgspec.DecodeError as error:
        raise ValueError(f"not valid JSON: {error}") from error
    if not LINE_ID.fullmatch(line.id):
        raise ValueError(f"id {line.id!r} is not valid: use up to 64 letters, digits, -, _ and .")
    if not line.prompt.strip():
        raise ValueError("prompt is empty")
    folder = defaults.folder / line.workspace
    if not folder.is_dir():
        raise ValueError(f"workspace {str(folder)!r} is not a folder")
    mode = line.mode or defaults.mode
    if mode and mode not in MODES:
        raise ValueError(f"mode {mode!r} is not one of {', '.join(MODES)}")
    if not MAX_PRIORITY <= line.priority <= MIN_PRIORITY:
        raise ValueError(f"priority {line.priority} is not valid: use 1 (first) to 5 (last)")
    for name, value in structs.asdict(line.budget).items():
        if value is not None and not value > 0:
            raise ValueError(f"budget.{name} must be a positive number, not {value}")
    return BatchLine(
        line.id,
        line.prompt,
        str(folder.absolute()),
        mode,
        line.model or defaults.model,
        line.backend or defaults.backend,
        line.priority,
        RunBudget(**structs.asdict(line.budget)),
        line.metadata,
    )


def _explained(message: str) -> str:
    """Rephrase an error from the JSON decoder in plain words, with the field first."""
    what, _, path = message.partition(" - at `$")
    place = path.rstrip("`").lstrip(".")
    if found := UNKNOWN_FIELD.fullmatch(what):
        known = ", ".join(structs.asdict(RunBudget()) if place else BatchLine.__struct_fields__)
        return f"{_joined(place, found['field'])} is not a known field: use {known}"
    if found := MISSING_FIELD.fullmatch(what):
        return f"{_joined(place, found['field'])} is missing"
    if found := WRONG_TYPE.fullmatch(what):
        return (
            f"{place or 'the line'} must be {_type_name(found['wanted'])}, not {_type_name(found['given'])}"
        )
    return f"{place}: {what}" if place else what


def _joined(place: str, field: str) -> str:
    return f"{place}.{field}" if place else field


def _type_name(types: str) -> str:
    """Return words for JSON types, for use in an error message."""
    known = dict(TYPE_NAMES)
    return " or ".join(known.get(each.strip(), each.strip()) for each in types.split("|"))
