"""Unapproved commands in a container that uses this machine's own folders.

A container cannot hide single files, so if rules deny any, no command runs without a question. What
appears under a guarded name is quarantined when the command has ended, as in the local sandbox.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from anyio import CancelScope
from anyio.to_thread import run_sync
from msgspec import Struct, structs

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, LiveProcess
from hermes_acp.core.proposals import Progress
from hermes_acp.workspaces.remote.remote_commands import RemoteCommands
from hermes_acp.workspaces.remote.remote_process import RemoteProcess
from hermes_acp.workspaces.sandbox.quarantine import Quarantine
from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames
from hermes_acp.workspaces.sandbox.tree_index import TreeIndex


class MountRestrictions(Struct, frozen=True):
    """The names that nobody may change without approval, and what rules currently deny."""

    guarded: GuardedNames = GuardedNames()
    denied_paths: Callable[[], tuple[DeniedPath, ...]] = tuple


class MountedCommands:
    """The commands of one workspace with mounted folders; what unapproved commands created is checked afterwards."""

    def __init__(
        self, commands: RemoteCommands, roots: Sequence[str], restrictions: MountRestrictions
    ) -> None:
        self._commands = commands
        self._roots = tuple(roots)
        self._closures = restrictions.denied_paths
        self._index = TreeIndex(roots, restrictions.guarded)
        self._quarantine = Quarantine(roots, self._index)
        self._launched: list[RemoteProcess] = []
        self._untold = ""

    async def close(self) -> None:
        """Kill what is running, and stop watching the folders."""
        await self._commands.close()
        await run_sync(self._index.close)

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """Return the launched processes by their short names."""
        return self._commands.live

    def confines(self, command: Command) -> bool:
        """Return whether a command can do no harm outside and sees nothing that rules deny."""
        return self._commands.confines(command) and not self._has_denied_paths()

    def _has_denied_paths(self) -> bool:
        return any(each.may_match_below(root) for each in self._closures() for root in self._roots)

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command; if it was not approved, it leaves nothing under a guarded name."""
        await self._release()
        if not command.must_be_confined:
            end = await self._commands.run(command, progress)
            await run_sync(self._quarantine.admit, frozenset[str])
            return end
        await self._begin()
        is_over = True
        try:
            end = await self._commands.run(command, progress)
            is_over = not end.left_running
        finally:
            await self._end(is_over=is_over)
        untold, self._untold = self._untold, ""
        return structs.replace(end, output=end.output + untold)

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        """Start a command and leave it running; what it creates is quarantined with the next command."""
        await self._release()
        if not command.must_be_confined:
            return await self._commands.launch(command, in_terminal=in_terminal)
        await self._begin()
        try:
            process = await self._commands.launch(command, in_terminal=in_terminal)
        except BaseException:
            await self._end(is_over=True)
            raise
        self._launched.append(process)
        return process

    async def _begin(self) -> None:
        """Record what exists. Raises WorkspaceError if a command would see what rules deny."""
        if self._has_denied_paths():
            raise WorkspaceError(
                "Not run: policy rules deny single files, and a container cannot hide those from a command.",
                hint="Set `unsandboxed: true` to ask the user.",
            )
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
