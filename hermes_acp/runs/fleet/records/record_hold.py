"""A record that this process holds, and how much of it is stored for other machines."""

from pathlib import Path
from typing import Final, Protocol

import anyio

from hermes_acp.core.errors import RecordTakenOver, StorageError
from hermes_acp.runs.fleet.records.local_copy import LocalCopy
from hermes_acp.runs.fleet.records.record_tables import Claim

MAX_SENT_BYTES: Final = 4 << 20
"""How much of a record is sent at once, unless a single event is longer."""
RETRY_S: Final = 1.0


class Sender(Protocol):
    """Sends what the held records of a process have gained."""

    async def flush(self) -> None:
        """Send what is not stored yet, or fail. Raises StorageError."""
        ...

    def wake(self) -> None:
        """Have it sent soon."""
        ...

    def let_go(self, hold: "FleetHold") -> None:
        """Release a hold once what is left of it has been sent."""
        ...


class FleetHold:
    """One held record; implements `RecordHold`."""

    def __init__(
        self, session_id: str, path: Path, sender: Sender, patience_s: float, claim: Claim | None
    ) -> None:
        """Take the record's path and its claim; a new record has none before it is first sent."""
        self.session_id = session_id
        self.claim = claim
        self.sent_bytes = claim.size_bytes if claim else 0
        self._trouble: RecordTakenOver | None = None
        self._copy = LocalCopy(path)
        self._sender = sender
        self._patience_s = patience_s

    @property
    def trouble(self) -> RecordTakenOver | None:
        """The error that says that another machine holds the record now."""
        return self._trouble

    @property
    def has_unsent(self) -> bool:
        """Whether the local copy has more than was sent."""
        return self._trouble is None and self._copy.size_bytes > self.sent_bytes

    def note_appended(self) -> None:
        """Note that the local copy has grown; it is sent soon."""
        self._sender.wake()

    async def sent(self) -> None:
        """Wait until everything in the local copy is durable for other machines. Raises StorageError."""
        target = self._copy.size_bytes
        trouble = StorageError("The fleet's database did not answer in time.", hint="Try again.")
        with anyio.move_on_after(self._patience_s):
            while self.sent_bytes < target and self._trouble is None:
                before = self.sent_bytes
                try:
                    await self._sender.flush()
                except StorageError as error:
                    trouble = error
                if self.sent_bytes == before and self._trouble is None:
                    await anyio.sleep(RETRY_S)
        if self._trouble:
            raise self._trouble
        if self.sent_bytes < target:
            raise trouble

    def close(self) -> None:
        """Have what is left sent, and the record released."""
        self._sender.let_go(self)

    def unsent(self) -> bytes:
        """Return whole lines that are not stored yet, perhaps not all. Blocks. Raises StorageError."""
        size = self._copy.size_bytes
        content = self._copy.read(self.sent_bytes, min(size, self.sent_bytes + MAX_SENT_BYTES))
        if b"\n" not in content:
            content = self._copy.read(self.sent_bytes, size)
        return content[: content.rfind(b"\n") + 1]

    def give_up(self) -> None:
        """Note that another machine holds the record now."""
        self._trouble = RecordTakenOver(
            f"Session {self.session_id!r} was opened on another machine while this one was not reachable.",
            hint="Open it again to see how it goes on there.",
        )
