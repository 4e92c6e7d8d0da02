"""Format stored text and times for a terminal or as JSON."""

import os
import re
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    """Escape terminal control characters; line endings and tabs stay."""
    return _STEERING.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def local_time(seconds: float, *, with_seconds: bool = False) -> str:
    """Format a time in the user's time zone."""
    shape = "%Y-%m-%d %H:%M:%S" if with_seconds else "%Y-%m-%d %H:%M"
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime(shape)


def exact_time(seconds: float) -> str:
    """Format a time for programs, in ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def bold(text: str) -> str:
    """Emphasise text if the output is a terminal."""
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else text


def print_json(document: Any) -> None:
    """Print a JSON document, indented."""
    encoded = msgspec.json.format(msgspec.json.encode(document), indent=2)
    print(encoded.decode())


def drop_output() -> None:
    """Discard the remaining output, because its reader has left."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def folder_named(named: str | None) -> str | None:
    """Return a folder in the form that sessions record: absolute, with symbolic links unresolved."""
    from pathlib import Path

    return str(Path(named).absolute()) if named is not None else None


def write_new(file: str, text: str, *, may_replace: bool) -> None:
    """Write text to a new file that only its owner can read, or to a device such as /dev/stdout.

    Raises BadRequest if the file exists and must not be replaced, OSError if it cannot be written.
    """
    import stat
    from pathlib import Path

    from hermes_acp.core.errors import BadRequest
    from hermes_acp.frontends.cli.messages import command_messages

    target = Path(file)
    replaces = may_replace or (target.exists() and not target.is_file())
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if replaces else os.O_EXCL)
    try:
        with os.fdopen(os.open(target, flags, 0o600), "w", encoding="utf-8") as written:
            if stat.S_ISREG(os.fstat(written.fileno()).st_mode):
                os.fchmod(written.fileno(), 0o600)
            written.write(text)
    except FileExistsError as error:
        raise BadRequest(
            command_messages.file_exists(file), hint=command_messages.FILE_EXISTS_HINT
        ) from error


def note(sentence: str) -> None:
    """Write a sentence to standard error, because it is not part of the output."""
    print(f"hermes-acp: {sentence}", file=sys.stderr)
