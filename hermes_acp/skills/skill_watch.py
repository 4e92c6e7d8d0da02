"""Watch a place's skills for changes while sessions are open there.

All sessions in a place share one watch, which ends with the last session.
"""

from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.skills.skill_folders import may_hold_skills
from hermes_acp.skills.skill_library import SkillLibrary
from hermes_acp.storage.watching.folder_watcher import FolderWatcher

DEBOUNCE_S: Final = 0.5
"""The delay before a place is watched, because a session that closes at once does not need a watch."""
OnChange = Callable[[], Awaitable[None]]
BackgroundWork = Callable[[], Coroutine[Any, Any, None]]


class SkillWatch:
    """Follows the folders of a working directory through `watcher`. `start` runs its background work."""

    def __init__(
        self, library: SkillLibrary, cwd: str, start: Callable[[BackgroundWork], None], watcher: FolderWatcher
    ) -> None:
        self.cwd = cwd
        self._library = library
        self._start = start
        self._watcher = watcher
        self._visitors: list[OnChange] = []
        self._scope: anyio.CancelScope | None = None
        """The cancel scope of the work for the current visitors; the scope of earlier ones may still be ending."""

    async def _run(self, scope: anyio.CancelScope) -> None:
        """Notify all visitors of each change until the scope is cancelled."""
        with scope:
            await anyio.sleep(DEBOUNCE_S)
            while True:
                deep, shallow = await run_sync(self._watched)
                await self._watcher.changed(deep, shallow, self._tell, may_hold_skills)

    def news(self) -> str:
        """Return the reason why changes may be noticed late, or an empty string."""
        return self._watcher.news()

    async def _tell(self) -> None:
        for visitor in tuple(self._visitors):
            await visitor()

    @contextmanager
    def notifying(self, visitor: OnChange) -> Generator[None, None, None]:
        """Call `visitor` on every change until the block ends."""
        self._visitors.append(visitor)
        if len(self._visitors) == 1:
            self._scope = anyio.CancelScope()
            self._start(partial(self._run, self._scope))
        try:
            yield
        finally:
            self._visitors.remove(visitor)
            if not self._visitors and self._scope:
                self._scope.cancel()

    def _watched(self) -> tuple[list[Path], list[Path]]:
        """Return the existing skill folders, and the folders where one may be created."""
        deep = [
            skill_folder.path
            for skill_folder in self._library.find_skill_folders(self.cwd)
            if skill_folder.scope != "builtin"
        ]
        return deep, sorted(self._library.parents(self.cwd))
