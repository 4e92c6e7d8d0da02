"""Write files to the home folder that show text to the user."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio.to_thread

from hermes_acp.core.errors import StorageError
from hermes_acp.frontends.lsp import messages

MAX_KEPT_FILES: Final = 40


class ScratchFolder:
    """The folder `lsp` in the home folder; it never contains the only copy of anything."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "lsp"

    async def put(self, name: str, text: str) -> Path:
        """Write text to a file that only its owner can read, and delete the oldest files. Raises StorageError."""
        return await anyio.to_thread.run_sync(self._put, name, text)

    def _put(self, name: str, text: str) -> Path:
        path = self._folder / name
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
            self._tidy()
        except OSError as error:
            raise StorageError(messages.cannot_write(str(path), str(error.strerror))) from error
        return path

    def _tidy(self) -> None:
        kept = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in kept[MAX_KEPT_FILES:]:
            with suppress(OSError):
                path.unlink()
