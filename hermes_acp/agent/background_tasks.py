"""Run background tasks for the duration of a block; a task's error is re-raised as is, without an exception group."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio

from hermes_acp.core.errors import first_error


@asynccontextmanager
async def background_tasks(*works: Callable[[], Coroutine[Any, Any, None]]) -> AsyncGenerator[None]:
    """Run each of `works` in the background while the block runs; cancel those still running when it ends."""
    try:
        async with anyio.create_task_group() as tasks:
            for work in works:
                tasks.start_soon(work)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise first_error(group) from None


@asynccontextmanager
async def joined_task(work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncGenerator[None]:
    """Run `work` alongside the block and wait for both; an error in either cancels the other."""
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            yield
    except BaseExceptionGroup as group:
        raise first_error(group) from None
