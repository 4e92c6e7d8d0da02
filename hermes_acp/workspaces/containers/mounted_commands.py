"""Commands in a container that nobody approved, in folders that are this machine's own.

Knows: that a container does not hide single files, and lets new ones be made under any name. Does not know: engines,
rules, which names are guarded.
What rules shut cannot be kept from a command there, so where there is such a thing none runs unasked. What appears
under a guarded name is set aside when the command has ended, as it is in the sandbox of this machine.
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
    """The names that nobody changes unasked, and what rules shut at that moment."""

    guarded: GuardedNames = GuardedNames()
    denied_paths: Callable[[], tuple[DeniedPath, ...]] = tuple


class MountedCommands:
    """The commands of one workspace with mounted folders, those looked after that nobody approved."""

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
        """End what runs, and watch the folders no longer."""
        await self._commands.close()
        await run_sync(self._index.close)

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """Return the processes that were launched, by their short names."""
        return self._commands.live

    def confines(self, command: Command) -> bool:
        """Return whether a command can do no harm outside, and sees nothing in the folders that rules shut."""
        return self._commands.confines(command) and not self._has_denied_paths()

    def _has_denied_paths(self) -> bool:
        return any(each.may_match_below(root) for each in self._closures() for root in self._roots)

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command; of one that nobody approved, nothing stays under a guarded name."""
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
        """Start a command and leave it running; what it makes is set aside with the next command."""
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
        """Take note of what is there. Raises WorkspaceError where a command would see what rules shut."""
        if self._has_denied_paths():
            raise WorkspaceError(
                "Not run: a container cannot keep a command from single files that rules of the policy shut.",
                hint="With `unsandboxed: true` the user is asked.",
            )
        await run_sync(self._quarantine.begin, frozenset[str])

    async def _end(self, *, is_over: bool) -> None:
        """Set aside what a command made that may not be there, even when it was cancelled."""
        with CancelScope(shield=True):
            end = partial(self._quarantine.end, frozenset[str], is_over=is_over)
            self._untold += await run_sync(end)

    async def _release(self) -> None:
        """Clear up behind those launched that have ended since."""
        for process in [each for each in self._launched if each.has_ended]:
            self._launched.remove(process)
            await self._end(is_over=True)
