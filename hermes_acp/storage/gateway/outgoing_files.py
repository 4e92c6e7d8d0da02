"""The contents of files to send, kept until they are sent. Functions block and raise StorageError."""

from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.private_files import private_folder, storage_error, write_whole

FOLDER: Final = "gateway-files"
PREFIX: Final = "file:"
"""The prefix of the IDs of outgoing messages that are files. Their texts describe the files."""


class StoredFile(Struct, frozen=True):
    """A file to send: its name and type."""

    name: str
    mime_type: str

    def text(self) -> str:
        """Return the text of the outgoing message for the file."""
        return msgspec.json.encode(self).decode()


class OutgoingFiles:
    """The files of one gateway, by the IDs of the messages that send them."""

    def __init__(self, home: Path, database: GatewayDatabase) -> None:
        self._folder = home / FOLDER
        self._database = database

    def keep(self, part_id: str, content: bytes) -> None:
        """Store the content of a file."""
        path = self._path(part_id)
        private_folder(self._folder)
        try:
            write_whole(path, content, mode=0o600)
        except OSError as error:
            raise storage_error("write", path, error) from error

    def read(self, part_id: str) -> bytes | None:
        """Return the content of a file, or None if it no longer exists."""
        path = self._path(part_id)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_error("read", path, error) from error

    def forget(self, part_id: str) -> None:
        """Remove the content of a file that has been sent or will never be sent."""
        with suppress(OSError):
            self._path(part_id).unlink(missing_ok=True)

    def _path(self, part_id: str) -> Path:
        return self._folder / self._database.hash("file", part_id)[:32]
