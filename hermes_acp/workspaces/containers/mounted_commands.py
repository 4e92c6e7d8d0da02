"""Commands in containers that use this machine's own folders.

Approved commands run in the container that the settings describe. All others run in separate containers, confined as in
the local sandbox: without a network, without secrets, and with read-only folders if they only read. Entries that appear
under a guarded name are quarantined once a command has ended.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from anyio import CancelScope
from anyio.to_thread import run_sync
from msgspec import Struct, structs

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, LiveProcess
from hermes_acp.core.proposals import Progress
from hermes_acp.workspaces.containers.confined_containers import ConfinedContainers
from hermes_acp.workspaces.containers.confined_mounts import ConfinedMounts, ContainerMode
from hermes_acp.workspaces.containers.engine_options import Mounts
from hermes_acp.workspaces.remote.remote_commands import RemoteCommands
from hermes_acp.workspaces.remote.remote_process import RemoteProcess
from hermes_acp.workspaces.sandbox.git_use import names_git
from hermes_acp.workspaces.sandbox.quarantine import Quarantine
from hermes_acp.workspaces.sandbox.sandbox_failure_hints import explain_failure
from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames
from hermes_acp.workspaces.sandbox.tree_index import TreeIndex

READ_ONLY: Final = "no network; the folders are read-only, because this was classified as a read-only command"
WRITABLE: Final = (
    "no network; secrets are hidden; .git is read-only unless a foreground command names git; files that start "
    "programs later are only read"
)


class MountRestrictions(Struct, frozen=True):
    """The names that must not be changed without approval, and the paths that rules currently deny."""

    guarded: GuardedNames = GuardedNames()
    denied_paths: Callable[[], tuple[DeniedPath, ...]] = tuple


class MountedCommands:
    """The commands of one workspace with mounted folders; what unapproved commands created is checked afterwards."""

    def __init__(
        self,
        usual: RemoteCommands,
        confined: ConfinedContainers,
        mounts: ConfinedMounts,
        roots: Sequence[str],
        restrictions: MountRestrictions,
    ) -> None:
        self._usual = usual
        self._confined = confined
        self._mounts = mounts
        self._denied_paths = restrictions.denied_paths
        self._index = TreeIndex(roots, restrictions.guarded)
        self._quarantine = Quarantine(roots, self._index)
        self._launched: list[RemoteProcess] = []
        self._untold = ""

    async def close(self) -> None:
        """Kill what is running, and stop watching the folders."""
        await self._confined.close()
        await self._usual.close()
        await run_sync(self._index.close)

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """Return the launched processes by their short names."""
        return self._usual.live

    def confines(self, command: Command) -> bool:
        """Return whether a command would be confined here, because it must be or because the settings say so."""
        return command.must_be_confined or self._usual.confines(command)

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command; quarantine anything that it created under a guarded name without approval."""
        await self._release()
        if not command.must_be_confined:
            end = await self._usual.run(command, progress)
            await run_sync(self._quarantine.admit, frozenset[str])
            return end
        mode = _mode_of(command)
        if mode.is_read_only:
            return _explained(await self._run_confined(mode, command, progress), mode)
        await self._begin()
        is_over = True
        try:
            end = _explained(await self._run_confined(mode, command, progress), mode)
            is_over = not end.left_running
        finally:
            await self._end(is_over=is_over)
        untold, self._untold = self._untold, ""
        return structs.replace(end, output=end.output + untold)

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        """Start a command and leave it running; what it creates is quarantined with the next command."""
        await self._release()
        if not command.must_be_confined:
            return await self._usual.launch(command, in_terminal=in_terminal)
        mode = structs.replace(_mode_of(command), opens_git=False)
        if mode.is_read_only:
            return await self._launch_confined(mode, command, in_terminal=in_terminal)
        await self._begin()
        try:
            process = await self._launch_confined(mode, command, in_terminal=in_terminal)
        except BaseException:
            await self._end(is_over=True)
            raise
        self._launched.append(process)
        return process

    async def _run_confined(self, mode: ContainerMode, command: Command, progress: Progress) -> CommandResult:
        async with self._confined.entered(mode, await run_sync(self._plan, mode)) as commands:
            return await commands.run(command, progress)

    async def _launch_confined(
        self, mode: ContainerMode, command: Command, *, in_terminal: bool
    ) -> RemoteProcess:
        async with self._confined.entered(mode, await run_sync(self._plan, mode)) as commands:
            return await commands.launch(command, in_terminal=in_terminal)

    def _plan(self, mode: ContainerMode) -> Mounts:
        tree = self._index.look() if mode.is_read_only else self._index.tree()
        return self._mounts.plan(tree, self._denied_paths(), mode)

    async def _begin(self) -> None:
        """Record which guarded entries exist."""
        await run_sync(self._quarantine.begin, frozenset[str])

    async def _end(self, *, is_over: bool) -> None:
        """Quarantine what a command created without permission, even if it was cancelled."""
        with CancelScope(shield=True):
            end = partial(self._quarantine.end, frozenset[str], is_over=is_over)
            self._untold += await run_sync(end)

    async def _release(self) -> None:
        """Clean up after launched commands that have since ended."""
        for process in [each for each in self._launched if each.has_ended]:
            self._launched.remove(process)
            await self._end(is_over=True)


def _mode_of(command: Command) -> ContainerMode:
    is_read_only = command.confinement == "read_only"
    return ContainerMode(is_read_only, opens_git=not is_read_only and names_git(command.line))


def _explained(end: CommandResult, mode: ContainerMode) -> CommandResult:
    """Return the result, with a line about the confinement if that may be why the command failed."""
    if not end.exit_code:
        return end
    remark = explain_failure(end.output, READ_ONLY if mode.is_read_only else WRITABLE)
    return structs.replace(end, output=end.output + remark)
