"""Run a gateway as a process on a platform made of two files, to be killed at any moment.

`sent.jsonl` contains what people send, one message per line; `posts.jsonl` contains what they see. Arguments: the
folder, and whether the platform recognises repeated sends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec

from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import read_environment
from hermes_acp.frontends.gateway.gateway import ConfiguredPlatform, Gateway
from hermes_acp.frontends.gateway.platform_runner import RunnerReports
from hermes_acp.frontends.gateway.port.platform_port import (
    Attachment,
    IncomingMessage,
    Limits,
    OutgoingMessage,
    Place,
    Platform,
    PlatformContext,
)
from hermes_acp.telemetry.redaction import Redactor
from tests.gateway.gateway_stage import PLATFORM, settings_for

POLL_S = 0.02


class FilePlatform:
    """A chat platform that consists of two files."""

    def __init__(self, folder: Path, context: PlatformContext) -> None:
        self._folder = folder
        self._context = context

    async def run(self) -> None:
        number = int(await self._context.cursor.load() or 0)
        while True:
            path = self._folder / "sent.jsonl"
            lines = path.read_bytes().splitlines() if path.exists() else []
            for line in lines[number:]:
                await self._context.receive(msgspec.json.decode(line, type=IncomingMessage))
                number += 1
                await self._context.cursor.save(str(number))
            await anyio.sleep(POLL_S)

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        self._write(message.key, message.text)
        return message.key

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        self._write(message_id, text, is_edit=True)

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        return b""

    def _write(self, message_id: str, text: str, *, is_edit: bool = False) -> None:
        line = msgspec.json.encode({"id": message_id, "text": text, "isEdit": is_edit}) + b"\n"
        descriptor = os.open(self._folder / "posts.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, line)
        os.close(descriptor)


class FilePlugin:
    """Connects to a folder."""

    limits = Limits(max_length=400, edit_gap_s=0.05, burst=1_000, send_gap_s=0.0)
    secrets = ()
    package = ""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        yield FilePlatform(self._folder, context)


def main(folder: Path) -> None:
    def report(error: BaseException, where: str) -> None:
        sys.stderr.write(f"{where}: {error!r}\n")

    reports = RunnerReports(lambda line: None, report)
    platform = ConfiguredPlatform(PLATFORM, FilePlugin(folder), None, {})
    gateway = Gateway(
        read_environment(), settings_for(folder / "project"), [platform], Redactor([]), SystemClock(), reports
    )
    anyio.run(gateway.run)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
