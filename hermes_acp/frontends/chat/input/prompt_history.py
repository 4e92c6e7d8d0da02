"""Store the prompts typed in a folder, for the next chat there.

Each folder has one file of limited length that only its owner can read. Answers to questions are never stored.
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from prompt_toolkit.history import History

MAX_KEPT_PROMPTS: Final = 1000
FOLDER: Final = "chat-history"


class PromptHistory(History):
    """The prompts of one folder, stored as one JSON string per line, oldest first."""

    def __init__(self, home: Path, cwd: str) -> None:
        super().__init__()
        self._path = home / FOLDER / f"{sha256(os.fsencode(cwd)).hexdigest()[:24]}.jsonl"

    def load_history_strings(self) -> Iterable[str]:
        """Return the stored prompts, newest first; skip damaged lines."""
        return reversed(self._read()[-MAX_KEPT_PROMPTS:])

    def store_string(self, string: str) -> None:
        """Store a prompt with its secrets masked; do nothing if the home folder is not writable."""
        from hermes_acp.telemetry.redaction import Redactor

        string = Redactor(()).clean(string)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._shorten()
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "ab") as file:
                file.write(msgspec.json.encode(string) + b"\n")
        except OSError:
            return

    def _read(self) -> list[str]:
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            return []
        found: list[str] = []
        for line in lines:
            try:
                found.append(msgspec.json.decode(line, type=str))
            except msgspec.MsgspecError:
                continue
        return found

    def _shorten(self) -> None:
        """Drop the older half once the file has twice as many prompts as the limit."""
        kept = self._read()
        if len(kept) < 2 * MAX_KEPT_PROMPTS:
            return
        fresh = self._path.with_suffix(f".{os.getpid()}")
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.writelines(msgspec.json.encode(each) + b"\n" for each in kept[-MAX_KEPT_PROMPTS:])
        os.replace(fresh, self._path)
