"""Waiting until something changes in a few folders.

Knows: watchfiles, which asks the system to be told. Does not know: what lies in the folders.
"""

import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final, cast

import anyio

DEBOUNCE_MS: Final = 100
STEP_MS: Final = 50
LOOK_S: Final = 1.0
Watch = Callable[..., AsyncGenerator[Any, None]]


async def changed(
    deep: Sequence[Path],
    shallow: Sequence[Path],
    begun: Callable[[], Coroutine[Any, Any, None]],
    concerns: Callable[[Path], bool] = lambda _: True,
) -> None:
    """Return once something changed anywhere below the `deep` folders, or something that `concerns` in the `shallow`.

    `begun` is called when nothing is missed any more: what happened before that is for it to find.
    """
    stopped = threading.Event()
    async with anyio.create_task_group() as tasks:
        for paths, which in ((deep, None), (shallow, concerns)):
            if paths:
                tasks.start_soon(_follow, paths, which, stopped, tasks.cancel_scope)
        # A watcher is at work before its task first waits, and tasks begin in their order.
        tasks.start_soon(begun)
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()  # a watcher waits in a thread, which nothing else ends


async def _follow(
    paths: Sequence[Path],
    concerns: Callable[[Path], bool] | None,
    stopped: threading.Event,
    scope: anyio.CancelScope,
) -> None:
    """End the scope once something changed: deep below the folders, or right in them where only some names concern."""
    import watchfiles

    filters: dict[str, Callable[[object, str], bool]] = {}
    if concerns:
        filters["watch_filter"] = lambda _, path: concerns(Path(path))

    # Its signature names a library that is not installed here, so that a type checker cannot know it whole.
    watch = cast("Watch", vars(watchfiles)["awatch"])
    changes = watch(
        *paths,
        recursive=concerns is None,
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        stop_event=stopped,
        ignore_permission_denied=True,
        **filters,
    )
    try:
        async with aclosing(changes):
            async for _ in changes:
                break
    except* (OSError, RuntimeError):
        # Too many are watched already, or a name is no text: then a look now and again has to do.
        await anyio.sleep(LOOK_S)
    scope.cancel()
