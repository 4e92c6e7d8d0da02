"""Pipes for a command with a given input and with errors separate from its output."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from anyio import create_task_group, wait_readable, wait_writable
from msgspec import Struct

from hermes_acp.core.errors import first_error

CHUNK_BYTES: Final = 64 * 1024
MAX_LEFT_CHUNKS: Final = 16


class SidePipes(Struct, frozen=True):
    """The command's ends of the two pipes: for its input and for its errors."""

    reading: int
    errors: int


@asynccontextmanager
async def side_pipes(given: bytes, take: Callable[[bytes], None]) -> AsyncGenerator[SidePipes]:
    """Yield the pipes for a command that must end within the block; `take` receives its errors as they arrive.

    All descriptors are closed afterwards, however the block ends.
    """
    reading, feeding = os.pipe()
    draining, errors = os.pipe()
    open_ends = {reading, feeding, draining, errors}

    def close(end: int) -> None:
        if end in open_ends:
            open_ends.discard(end)
            os.close(end)

    async def feed() -> None:
        await _feed(feeding, given)
        close(feeding)

    try:
        os.set_blocking(feeding, False)
        os.set_blocking(draining, False)
        async with create_task_group() as tasks:
            tasks.start_soon(feed)
            tasks.start_soon(_drain, draining, take)
            yield SidePipes(reading, errors)
            tasks.cancel_scope.cancel()
        _read_rest(draining, take)
    except BaseExceptionGroup as group:
        raise first_error(group) from None
    finally:
        for end in tuple(open_ends):
            close(end)


async def _feed(feeding: int, given: bytes) -> None:
    left = memoryview(given)
    while left:
        await wait_writable(feeding)
        with suppress(BlockingIOError):
            left = left[os.write(feeding, left[:CHUNK_BYTES]) :]


async def _drain(draining: int, take: Callable[[bytes], None]) -> None:
    while True:
        await wait_readable(draining)
        with suppress(BlockingIOError):
            take(os.read(draining, CHUNK_BYTES))


def _read_rest(draining: int, take: Callable[[bytes], None]) -> None:
    with suppress(BlockingIOError):
        for _ in range(MAX_LEFT_CHUNKS):
            take(os.read(draining, CHUNK_BYTES))
