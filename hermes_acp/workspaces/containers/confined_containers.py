"""The containers for unapproved commands: one for each view of the folders, replaced when the view changes.

They have no network. A container exists until everything that its commands left running has ended.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

from hermes_acp.workspaces.containers.confined_mounts import ContainerMode
from hermes_acp.workspaces.containers.container_host import ContainerHost, Engine
from hermes_acp.workspaces.containers.engine_options import Mounts
from hermes_acp.workspaces.remote.remote_commands import RemoteCommands

NewEngine = Callable[[Mounts], Engine]
"""A function that returns an engine for containers with the given mounts and no network."""


class _Container(Struct):
    mounts: Mounts
    commands: RemoteCommands
    users: int = 0

    @property
    def is_needed(self) -> bool:
        return self.users > 0 or self.commands.has_running


class ConfinedContainers:
    """The containers of one session; `new_commands` runs commands on a host."""

    def __init__(
        self, new_engine: NewEngine, new_commands: Callable[[ContainerHost], RemoteCommands]
    ) -> None:
        """Initialise without starting anything."""
        self._new_engine = new_engine
        self._new_commands = new_commands
        self._current: dict[ContainerMode, _Container] = {}
        self._former: list[_Container] = []

    @asynccontextmanager
    async def entered(self, mode: ContainerMode, mounts: Mounts) -> AsyncGenerator[RemoteCommands]:
        """Yield a container with the given mounts; the first command in it starts it."""
        current = self._current.get(mode)
        if current is None or current.mounts != mounts:
            if current is not None:
                self._former.append(current)
            host = ContainerHost(self._new_engine(mounts))
            current = self._current[mode] = _Container(mounts, self._new_commands(host))
        current.users += 1
        try:
            for each in [each for each in self._former if not each.is_needed]:
                self._former.remove(each)
                await each.commands.leave()
            yield current.commands
        finally:
            current.users -= 1

    async def close(self) -> None:
        """End all containers."""
        for each in (*self._former, *self._current.values()):
            await each.commands.leave()
        self._former.clear()
        self._current.clear()
