"""Limit how often each streaming answer is read and shown when many stream at once.

A few are shown 60 times a second. The cost of a read and of a frame is the same however much text they contain, so with
many answers at once, each is read less often, down to 20 times a second.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

FRAME_S: Final = 0.016
MAX_FRAME_S: Final = 0.05
FRAME_PER_STREAM_S: Final = 0.0003


class StreamLoad:
    """Counts the answers that are currently streaming; shared by all turns of a process."""

    def __init__(self) -> None:
        self._streams = 0

    @property
    def frame_s(self) -> float:
        """The time between two frames of an answer, in seconds."""
        return min(MAX_FRAME_S, max(FRAME_S, self._streams * FRAME_PER_STREAM_S))

    @property
    def is_high(self) -> bool:
        """Whether so many answers are streaming that each is shown less often."""
        return self._streams * FRAME_PER_STREAM_S > FRAME_S

    @contextmanager
    def stream(self) -> Generator[None]:
        """Count an answer while the block runs."""
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1
