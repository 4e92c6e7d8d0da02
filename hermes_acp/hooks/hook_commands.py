"""Run the commands of one session's hooks: the user's own directly, those of a workspace in the sandbox."""

from collections.abc import Sequence
from typing import Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.hooks.hook_definitions import Hook
from hermes_acp.workspaces.configured_commands import CommandSurroundings, open_commands
from hermes_acp.workspaces.local_commands import LocalCommands, PipedResult

HOOK_VARIABLE: Final = "HERMES_ACP_HOOK"
"""Set for the commands of hooks: an agent that a hook starts runs no hooks, so that no hook can start itself."""


class HookCommands:
    """Runs hooks' commands in one session's folder; `close` ends all their processes."""

    def __init__(self, surroundings: CommandSurroundings, cwd: str, roots: Sequence[str]) -> None:
        """Store the arguments; nothing is started."""
        self._surroundings = surroundings
        self._cwd = cwd
        self._roots = tuple(roots)
        self._commands: LocalCommands | None = None
        self._opening = anyio.Lock()

    async def run(self, hook: Hook, given: bytes) -> PipedResult:
        """Run a hook's command to completion.

        Raises WorkspaceError if it cannot start, or cannot be confined as required.
        """
        confinement = "must" if hook.entry else "never"
        command = Command(hook.command, self._cwd, hook.timeout_s, confinement, is_quiet=True)
        async with self._opening:
            if self._commands is None:
                self._commands = await run_sync(open_commands, self._surroundings, self._cwd, self._roots)
        return await self._commands.run_piped(command, given)

    async def close(self) -> None:
        """Kill processes that hooks' commands have left running."""
        if self._commands is not None:
            await self._commands.close()
