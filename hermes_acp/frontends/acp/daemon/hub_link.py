"""The link from a resident process to the hub that started it: limits on standard input, usage on standard output.

The end of the input means that the hub has ended or wants this process to end; running turns get the usual time.
"""

import os
import signal
from contextlib import suppress
from typing import Final

import anyio

from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.acp.messages import serving
from hermes_acp.users.hub_messages import MAX_LINE_BYTES, Spent, Terms, decode_terms, encode_spent
from hermes_acp.users.reported_quota import ReportedQuota

INPUT: Final = 0
OUTPUT: Final = 1


class HubLink:
    """The link to the hub; it exists once the first limits have arrived."""

    def __init__(self) -> None:
        """Wait for the first limits. Raises ConfigError if this process was not started by a hub."""
        self._read = b""
        while b"\n" not in self._read:
            piece = os.read(INPUT, MAX_LINE_BYTES)
            if not piece:
                raise ConfigError(serving.NOT_FOR_A_HUB)
            self._read += piece
        self.terms = self._take()[-1]
        self._reports: list[bytes] = []
        self._has_reports = anyio.Event()
        self.quota = ReportedQuota(self.terms, self._report)

    async def keep(self) -> None:
        """Apply new limits and send usage reports until cancelled; end this process once the hub closes the input."""
        os.set_blocking(INPUT, False)
        os.set_blocking(OUTPUT, False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send)
            await self._hear()
            os.kill(os.getpid(), signal.SIGTERM)

    async def _hear(self) -> None:
        while True:
            await anyio.wait_readable(INPUT)
            piece = os.read(INPUT, MAX_LINE_BYTES)
            if not piece:
                return
            self._read += piece
            for terms in self._take():
                self.quota.take(terms)

    async def _send(self) -> None:
        with suppress(BrokenPipeError):  # the hub was killed, so nobody reads the reports
            await self._send_all()

    async def _send_all(self) -> None:
        while True:
            await self._has_reports.wait()
            self._has_reports = anyio.Event()
            waiting, self._reports = b"".join(self._reports), []
            while waiting:
                await anyio.wait_writable(OUTPUT)
                waiting = waiting[os.write(OUTPUT, waiting) :]

    def _report(self, spent: Spent) -> None:
        self._reports.append(encode_spent(spent))
        self._has_reports.set()

    def _take(self) -> list[Terms]:
        """Return the limits from the complete lines read so far. Raises ConfigError."""
        *lines, self._read = self._read.split(b"\n")
        try:
            return [decode_terms(line) for line in lines]
        except ValueError as error:
            raise ConfigError(serving.NOT_FOR_A_HUB) from error
