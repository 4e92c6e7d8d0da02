"""The time one running call may take.

Knows: when it is over, and that it stands still while a person is asked. Does not know: what runs, who is asked.
"""

import math
from collections.abc import Generator
from contextlib import contextmanager

import anyio


class Deadline:
    """A bound in seconds from now on; `scope` is cancelled when they are over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)
        self._left_s = seconds
        self._pauses = 0

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let the time stand still while the block runs; blocks may overlap."""
        if not self._pauses:
            self._left_s = self.scope.deadline - anyio.current_time()
            self.scope.deadline = math.inf
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self.scope.deadline = anyio.current_time() + self._left_s
