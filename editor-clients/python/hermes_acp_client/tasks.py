"""A task group that raises a single exception unwrapped, so that callers can catch it by its type."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.abc


@asynccontextmanager
async def task_group() -> AsyncGenerator[anyio.abc.TaskGroup]:
    """Open a task group for the duration of the block; several exceptions remain in a group."""
    try:
        async with anyio.create_task_group() as group:
            yield group
    except BaseExceptionGroup as failures:
        if len(failures.exceptions) > 1:
            raise
        failure = next(iter(failures.exceptions))
        raise failure from failure.__cause__
