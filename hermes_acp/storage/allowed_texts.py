"""Texts that the user allows regardless of the scanner, identified by the hash of their bytes.

The list is in the user's home folder: no repository can add to it, and a file that changes by a byte must be allowed
again. All functions block.
"""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "allowed-texts"
DIGEST_LETTERS: Final = 64


def digest_of(content: bytes) -> str:
    """Return the hash that identifies a text."""
    from hashlib import sha256

    return sha256(content).hexdigest()


def read_allowed(home: "str | Path") -> frozenset[str]:
    """Return the hashes of all allowed texts, or none if the file cannot be read."""
    with suppress(OSError):
        with open(os.path.join(home, FILE), "rb") as stream:
            lines = stream.read().decode("utf-8", "replace").splitlines()
        return frozenset(line[:DIGEST_LETTERS] for line in lines if len(line) >= DIGEST_LETTERS)
    return frozenset()


def allow(home: "Path", content: bytes, path: str) -> str:
    """Allow a text and return its hash; `path` is stored for human readers. Raises StorageError."""
    return _rewrite(home, content, f"{digest_of(content)}  {path.splitlines()[0] if path else ''}")


def forbid(home: "Path", content: bytes) -> str:
    """Stop allowing a text and return its hash. Raises StorageError."""
    return _rewrite(home, content, "")


def _rewrite(home: "Path", content: bytes, line: str) -> str:
    from hermes_acp.storage.private_files import private_folder, storage_error, write_whole

    digest = digest_of(content)
    file = private_folder(home) / FILE
    try:
        present = file.read_text("utf-8", "replace").splitlines() if os.path.lexists(file) else []
        kept = [each for each in present if not each.startswith(digest)]
        write_whole(file, "".join(f"{each}\n" for each in (*kept, line) if each).encode(), mode=0o600)
    except OSError as error:
        raise storage_error("write", file, error) from error
    return digest
