"""Log the program's own bugs for its developers.

Stack frames and types are written; messages and values are not, because they could contain the user's text.
"""

import os
import traceback
from pathlib import Path


class BugLog:
    """`logs/bugs.log` in the home folder."""

    def __init__(self, home: Path) -> None:
        self.path = home / "logs" / "bugs.log"

    def report(self, error: BaseException, trace: str) -> None:
        """Append an exception with its trace ID; errors writing the log are ignored."""
        frames = "".join(traceback.format_tb(error.__traceback__))
        entry = f"{trace} {type(error).__module__}.{type(error).__qualname__}\n{frames}\n"
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as log:
                log.write(entry)
        except OSError:
            return
