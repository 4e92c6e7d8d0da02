"""A log of what the program decided or used, with one JSON object per line.

Callers pass names and numbers, never keys or the text of a conversation. Anything that looks like a secret is masked
anyway.
"""

import os
import time
from pathlib import Path
from typing import Final

import msgspec

from hermes_acp.core.ports.runtime_ports import Clock

SIZE_LIMIT_BYTES: Final = 1024 * 1024


def note_change(home: Path, what: str, who: str, outcome: str = "changed") -> None:
    """Log in `logs/changes.jsonl` that someone changed a setting; its content is not logged."""
    StructuredLog(home, _RealTime(), "changes").note(what, who=who, outcome=outcome)


class _RealTime:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


class StructuredLog:
    """`logs/decisions.jsonl` in the home folder, or a log with another name.

    Once it exceeds a mebibyte, older entries are moved to `decisions.1.jsonl`.
    """

    def __init__(self, home: Path, clock: Clock, name: str = "decisions") -> None:
        self.path = home / "logs" / f"{name}.jsonl"
        self._clock = clock

    def note(self, what: str, **facts: str | float | None) -> None:
        """Append a line; errors writing the log are ignored."""
        from hermes_acp.telemetry.redaction import Redactor

        clean = Redactor(()).clean
        kept = {name: clean(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
        line = msgspec.json.encode({"at": self._clock.now(), "what": what, **kept}) + b"\n"
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, line)
                is_full = os.fstat(descriptor).st_size >= SIZE_LIMIT_BYTES
            finally:
                os.close(descriptor)
            if is_full:
                os.replace(self.path, self.path.with_suffix(".1.jsonl"))
        except OSError:
            return
