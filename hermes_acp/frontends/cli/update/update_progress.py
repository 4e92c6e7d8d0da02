"""Report the progress of an update: not at all, or to a log and to standard output while someone reads it."""

import os
import select
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from hermes_acp.frontends.cli.cli_output import escaped
from hermes_acp.frontends.cli.update import messages

MAX_LOG_BYTES: Final = 1 << 20


class Silent:
    """Reports nothing."""

    def step(self, name: str, value: str = "") -> None:
        """Do nothing."""

    def detail(self, text: str) -> None:
        """Do nothing."""


class Told:
    """Reports to a log and to standard output. Reporting never stops an update, even if the disk is full, or if the
    reader of the output has left or stalls.
    """

    def __init__(self, *, is_quiet: bool) -> None:
        """Prepare the report; if `is_quiet`, steps are written only to the log."""
        self._is_quiet = is_quiet
        self._log = -1

    def open_log(self, path: Path) -> None:
        """Append to a log from now on, after the entries of earlier updates."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        with suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            self._log = os.open(path, flags, 0o600)
            if os.fstat(self._log).st_size > MAX_LOG_BYTES:
                os.ftruncate(self._log, 0)

    def step(self, name: str, value: str = "") -> None:
        """Report a step."""
        sentence = f"{messages.STEPS[name](value)} …"
        self.detail(sentence)
        if not self._is_quiet:
            _write(1, f"{escaped(sentence)}\n")

    def detail(self, text: str) -> None:
        """Write to the log."""
        with suppress(OSError):
            if self._log >= 0:
                now = datetime.now().astimezone().isoformat(timespec="milliseconds")
                os.write(self._log, f"{now} {text}\n".encode(errors="replace"))

    def say(self, text: str) -> None:
        """Write to standard output and to the log."""
        self.detail(text)
        _write(1, f"{escaped(text)}\n")

    def warn(self, sentence: str) -> None:
        """Write to the error output and to the log."""
        self.detail(sentence)
        _write(2, f"hermes-acp: {escaped(sentence)}\n")


def _write(descriptor: int, text: str) -> None:
    with suppress(OSError, ValueError):
        _, writable, _ = select.select([], [descriptor], [], 0)
        if writable:
            os.write(descriptor, text.encode(errors="replace"))
