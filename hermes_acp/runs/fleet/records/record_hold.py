"""A record that this process holds, and how much of it has been sent to the fleet's database."""

from pathlib import Path
from typing import Final, Protocol

import anyio

from hermes_acp.core.errors import RecordTakenOver, StorageError
from hermes_acp.runs.fleet.records.local_copy import LocalCopy
from hermes_acp.runs.fleet.records.record_tables import Claim

MAX_SENT_BYTES: Final = 4 << 20
"""The maximum number of bytes of a record sent at once, unless a single event is longer."""
RETRY_S: Final = 1.0


class Sender(Protocol):
    """Sends additions to the records that a process holds."""

    async def flush(self) -> None:
        """Send all unsent additions. Raises StorageError."""
        ...

    def wake(self) -> None:
        """Request sending soon."""
        ...

    def let_go(self, hold: "FleetHold") -> None:
        """Release a record once its unsent part has been sent."""
        ...


class FleetHold:
    """A record held by this process; implements `RecordHold`."""

    def __init__(
        self, session_id: str, path: Path, sender: Sender, max_wait_s: float, claim: Claim | None
    ) -> None:
        """Store the record's path and its claim. A new record has no claim until it is first sent."""
        self.session_id = session_id
        self.claim = claim
        self.sent_bytes = claim.size_bytes if claim else 0
        self._trouble: RecordTakenOver | None = None
        self._copy = LocalCopy(path)
        self._sender = sender
        self._patience_s = max_wait_s

    @property
    def trouble(self) -> RecordTakenOver | None:
        """The error to raise if another machine now holds the record, else None."""
        return self._trouble

    @property
    def has_unsent(self) -> bool:
        """Whether part of the local copy has not been sent yet."""
        return self._trouble is None and self._copy.size_bytes > self.sent_bytes

    def note_appended(self) -> None:
        """Report that the local copy has grown, so that the additions are sent soon."""
        self._sender.wake()

    async def sent(self) -> None:
        """Wait until the whole local copy is durable in the fleet's database. Raises StorageError."""
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
        """Request that the unsent part be sent and the record then be released."""
        self._sender.let_go(self)

    def unsent(self) -> bytes:
        """Return unsent whole lines, up to a limit. Blocks. Raises StorageError."""
        size = self._copy.size_bytes
        content = self._copy.read(self.sent_bytes, min(size, self.sent_bytes + MAX_SENT_BYTES))
        if b"\n" not in content:
            content = self._copy.read(self.sent_bytes, size)
        return content[: content.rfind(b"\n") + 1]

    def give_up(self) -> None:
        """Record that another machine now holds the record."""
        self._trouble = RecordTakenOver(
            f"Session {self.session_id!r} was opened on another machine while this one was not reachable.",
            hint="Open it again to follow it there.",
        )
