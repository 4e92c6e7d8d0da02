"""Waiting until something changes in a few folders.

Knows: watchfiles' own watcher, which asks the system to be told. Does not know: what lies in the folders.
The watcher is used directly, as https://watchfiles.helpmanual.io/api/rust_backend/ has it: it waits in a thread that
looks only now and again whether it should stop, and whoever leaves must not wait for that.
"""

import threading
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
from anyio import from_thread
from anyio.to_thread import run_sync

DEBOUNCE_MS: Final = 100
STEP_MS: Final = 50
POLL_MS: Final = 300
LOOK_S: Final = 1.0
Concern = Callable[[Path], bool]


async def changed(
    deep: Sequence[Path],
    shallow: Sequence[Path],
    begun: Callable[[], Coroutine[Any, Any, None]],
    concerns: Concern = lambda _: True,
) -> None:
    """Return once something changed anywhere below the `deep` folders, or something that `concerns` in the `shallow`.

    `begun` is called when nothing is missed any more: what happened before that is for it to find.
    """
    stopped = threading.Event()
    try:
        async with anyio.create_task_group() as tasks:
            for paths, which in ((deep, None), (shallow, concerns)):
                if paths:
                    at_work = anyio.Event()
                    tasks.start_soon(_follow, paths, which, stopped, at_work, tasks.cancel_scope)
                    await at_work.wait()
            await begun()
            await anyio.sleep_forever()
    finally:
        stopped.set()  # nothing else ends the threads


async def _follow(
    paths: Sequence[Path],
    concerns: Concern | None,
    stopped: threading.Event,
    at_work: anyio.Event,
    scope: anyio.CancelScope,
) -> None:
    """End the scope once something changed: deep below the folders, or right in them where only some names concern."""
    begun = partial(from_thread.run_sync, at_work.set)
    try:
        await run_sync(_wait, paths, concerns, stopped, begun, abandon_on_cancel=True)
    except (OSError, RuntimeError):
        # Too many are watched already, or a name is no text: then a look now and again has to do.
        at_work.set()
        await anyio.sleep(LOOK_S)
    scope.cancel()


def _wait(
    paths: Sequence[Path], concerns: Concern | None, stopped: threading.Event, begun: Callable[[], object]
) -> None:
    """Block until something changed, or until it should stop. Raises OSError, RuntimeError."""
    from watchfiles import Change, DefaultFilter
    from watchfiles._rust_notify import RustNotify

    usual = DefaultFilter()  # leaves out what tools and editors keep for themselves
    names = [str(path) for path in paths]
    with RustNotify(names, False, _must_poll(), POLL_MS, concerns is None, True) as watcher:
        begun()
        while not isinstance(found := watcher.watch(DEBOUNCE_MS, STEP_MS, 0, stopped), str):
            for kind, path in found:
                if concerns(Path(path)) if concerns else usual(Change(kind), path):
                    return


def _must_poll() -> bool:
    """Tell whether this is Linux under Windows, where nobody is told of changes on a drive of Windows."""
    import platform

    return "microsoft" in platform.release().lower()
