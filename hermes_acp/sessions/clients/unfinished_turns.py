"""The turns that a resident process has not finished, recorded so that its successor can continue them."""

from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from hermes_acp.storage.private_files import write_private_text

MAX_STARTS = 3
"""The maximum number of starts of one turn. It may be what crashes the process, so the user must then decide."""


class UnfinishedTurns:
    """A file that lists the sessions with unfinished turns and the number of times each turn was started."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts: dict[str, int] = {}
        self._writing = anyio.Lock()

    async def left_over(self) -> tuple[str, ...]:
        """Return the sessions whose turns the previous process did not finish and that may be continued."""
        try:
            text = await anyio.to_thread.run_sync(self._path.read_bytes)
            starts = msgspec.json.decode(text, type=dict[str, int])
        except (OSError, msgspec.MsgspecError):
            return ()
        self._starts = {session_id: count for session_id, count in starts.items() if count < MAX_STARTS}
        return tuple(self._starts)

    def reset_starts(self, session_id: str) -> None:
        """Reset the start count of a turn that waited for its user when the process ended, so did not crash it."""
        self._starts[session_id] = 0

    async def begin(self, session_id: str) -> None:
        """Record that a turn starts. Raises StorageError."""
        self._starts[session_id] = self._starts.get(session_id, 0) + 1
        await self._write()

    async def end(self, session_id: str) -> None:
        """Record that a turn has ended. Raises StorageError."""
        if self._starts.pop(session_id, None):
            await self._write()

    async def _write(self) -> None:
        async with self._writing:
            text = msgspec.json.encode(self._starts).decode()
            await anyio.to_thread.run_sync(write_private_text, self._path, text)
