"""The prompts for a home folder's runs, each in a private file named after its content."""

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from anyio.to_thread import run_sync

from hermes_acp.core.errors import StorageError
from hermes_acp.storage.private_files import storage_error, write_private_text
from hermes_acp.telemetry.redaction import Redactor

NAME_CHARACTERS: Final = 32
SOURCES: Final = ".sources"


def named_prompt(text: str, sources: Sequence[str]) -> tuple[str, str, str]:
    """Return a prompt's name, its text with secrets masked, and its sources, one per line."""
    clean = Redactor(()).clean(text)
    listed = "".join(f"{source}\n" for source in sources)
    content = f"{clean}\0{listed}" if listed else clean
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_CHARACTERS], clean, listed


class FilePrompts:
    """The prompts in one home folder, each in a private file; implements `Prompts`."""

    def __init__(self, home: Path) -> None:
        """Store the path; nothing is created yet."""
        self._folder = home / "runs" / "prompts"

    async def put(self, text: str, sources: Sequence[str] = ()) -> str:
        """Store a prompt with secrets masked, and return its name.

        `sources` lists where the parts not written by the user come from. Raises StorageError.
        """
        return await run_sync(self._put, text, sources)

    async def sources(self, name: str) -> tuple[str, ...]:
        """Return where the parts of a prompt not written by the user come from. Raises StorageError."""
        return await run_sync(self._sources, name)

    async def get(self, name: str) -> str:
        """Return a prompt. Raises StorageError."""
        return await run_sync(self._get, name)

    async def prune(self, named: Collection[str], before: float) -> None:
        """Remove prompts that are not in `named` and were last stored before a time."""
        await run_sync(self._prune, named, before)

    def _prune(self, named: Collection[str], before: float) -> None:
        with suppress(OSError):
            for path in self._folder.glob("*.txt"):
                if path.stem not in named and path.stat().st_mtime < before:
                    path.unlink(missing_ok=True)
                    path.with_suffix(SOURCES).unlink(missing_ok=True)

    def _put(self, text: str, sources: Sequence[str]) -> str:
        name, clean, listed = named_prompt(text, sources)
        path = self._path(name)
        try:
            os.utime(path)  # the prompt is in use again, so it must not be pruned
        except OSError:
            if listed:
                write_private_text(path.with_suffix(SOURCES), listed)
            write_private_text(path, clean)
        return name

    def _sources(self, name: str) -> tuple[str, ...]:
        path = self._path(name).with_suffix(SOURCES)
        try:
            return tuple(path.read_text(encoding="utf-8").splitlines())
        except FileNotFoundError:
            return ()
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"The run's prompt cannot be read: {path}: {error}.") from error

    def _get(self, name: str) -> str:
        path = self._path(name)
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise storage_error("read the run's prompt", path, error) from error
        except UnicodeDecodeError as error:
            raise StorageError(f"The run's prompt {path} is damaged.") from error

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.txt"
