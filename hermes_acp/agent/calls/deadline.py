"""The deadline of a running call, which is paused while a person is asked."""

import math
from collections.abc import Generator
from contextlib import contextmanager

import anyio


class Deadline:
    """A time limit in seconds from now; when it expires, `scope` is cancelled."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)
        self._left_s = seconds
        self._pauses = 0

    @contextmanager
    def paused(self) -> Generator[None]:
        """Pause the deadline while the block runs; blocks may overlap."""
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
