"""The tool schemas that sessions sent to models, with one copy of each set, named by its digest."""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import StorageError
from hermes_acp.core.messages import ToolSchema
from hermes_acp.storage.private_files import write_private_text

FOLDER: Final = "tool-schemas"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class OfferedTools(Struct, frozen=True):
    """The tools that a model could call. The model had to search for the `deferred` ones."""

    tools: tuple[ToolSchema, ...] = ()
    deferred: tuple[ToolSchema, ...] = ()


def digest_of(offered: OfferedTools) -> str:
    """Return the SHA-256 digest that names a set of tools."""
    return sha256(_encoded(offered)).hexdigest()


class ToolSchemaStore:
    """The stored schemas of one home folder."""

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER

    def has(self, digest: str) -> bool:
        """Return whether a set of tools is stored. Blocks."""
        return self._path(digest).is_file()

    def keep(self, offered: OfferedTools) -> None:
        """Store a set of tools unless it is already stored. Blocks. Raises StorageError."""
        path = self._path(digest_of(offered))
        if not path.is_file():
            write_private_text(path, _encoded(offered).decode())

    def read(self, digest: str) -> OfferedTools | None:
        """Return a set of tools, or None if it is missing, unreadable or does not match its digest. Blocks."""
        if not _DIGEST.fullmatch(digest):
            return None
        try:
            content = self._path(digest).read_bytes()
            if sha256(content).hexdigest() != digest:
                return None
            return msgspec.json.decode(content, type=OfferedTools)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def keep_all(self, sets: Sequence[OfferedTools]) -> None:
        """Store sets of tools. Blocks. Raises StorageError."""
        for offered in sets:
            self.keep(offered)

    def _path(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise StorageError(f"{digest[:80]!r} is not a SHA-256 digest.")
        return self._folder / f"{digest}.json"


def _encoded(offered: OfferedTools) -> bytes:
    return msgspec.json.encode(offered, order="deterministic")
