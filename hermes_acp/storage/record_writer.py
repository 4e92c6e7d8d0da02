"""Write a whole record at once, for sessions that come from elsewhere."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import Event
from hermes_acp.storage.disk_sync import sync_file
from hermes_acp.storage.private_files import private_folder, storage_error, sync_folder
from hermes_acp.storage.record_lines import encode_line, encode_untimed_line


def write_record(path: Path, events: Iterable[tuple[Event, int | None]]) -> None:
    """Create a record with events and the times, in milliseconds since the epoch, at which they were written.

    On return, it is durable. Blocks. Raises BadRequest if the record exists, or StorageError.
    """
    encode = msgspec.json.Encoder().encode
    lines: list[bytes] = []
    chain = 0
    for event, at_ms in events:
        body = encode(event)
        line, chain = encode_untimed_line(body, chain) if at_ms is None else encode_line(body, chain, at_ms)
        lines.append(line)
    try:
        private_folder(path.parent)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError as error:
        raise BadRequest(f"There is already a session {path.stem!r}.") from error
    except OSError as error:
        raise storage_error("create the session record", path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as record:
            record.writelines(lines)
            record.flush()
            sync_file(record.fileno())
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise storage_error("write the session record", path, error) from error
