"""A task group whose single failure is raised as itself, so that callers can catch it by its name.

Knows: exception groups. Does not know: what runs in it.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.abc


@asynccontextmanager
async def task_group() -> AsyncGenerator[anyio.abc.TaskGroup]:
    """Open a task group for the length of the block; several failures stay a group."""
    try:
        async with anyio.create_task_group() as group:
            yield group
    except BaseExceptionGroup as failures:
        if len(failures.exceptions) > 1:
            raise
        failure = next(iter(failures.exceptions))
        raise failure from failure.__cause__
