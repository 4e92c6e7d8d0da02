"""Work that runs beside a block and ends with it.

Knows: how one task is kept beside a block so that an error of either comes out as itself, not wrapped in a group.
Does not know: what the work is.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio


@asynccontextmanager
async def beside(work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncGenerator[None]:
    """Run `work` while the block runs; it is cancelled when the block ends."""
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise first_of(group) from None


def first_of(error: BaseException) -> BaseException:
    """Give an error itself, or the first of those in a group."""
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return first_of(inner[0]) if inner else error
