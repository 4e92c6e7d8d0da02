"""Run the commands of one session's hooks: the user's own as they are, a workspace's in the sandbox."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import anyio
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.hooks.hook_definitions import Hook
from hermes_acp.workspaces.backends.local import SandboxSetup
from hermes_acp.workspaces.command_environment import command_environment, temporary_folder
from hermes_acp.workspaces.local_commands import LocalCommands, PipedResult
from hermes_acp.workspaces.output_files import OutputFolder
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry
from hermes_acp.workspaces.sandbox.command_sandbox import Sandbox
from hermes_acp.workspaces.sandbox_setup import ConfinementInputs, sandbox_setup

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings

HOOK_VARIABLE: Final = "HERMES_ACP_HOOK"
"""Set for the commands of hooks: an agent that a hook starts runs no hooks, so that none can start itself."""


class HookSurroundings(Struct, frozen=True):
    """What hooks' commands get from their process: its variables, its private folder, and the limits of sandboxes."""

    variables: Mapping[str, str]
    private: str
    confinement: Callable[[], SandboxSetup]


def surroundings_of(
    environment: Environment, settings: "Callable[[], Settings | None]", confinement: ConfinementInputs
) -> HookSurroundings:
    """Return the surroundings of a home's hooks; `settings` returns the settings once they are loaded."""
    return HookSurroundings(
        {**environment.variables, HOOK_VARIABLE: "1"},
        str(environment.private_folder.resolve()),
        lambda: sandbox_setup(settings, confinement),
    )


class HookCommands:
    """Runs hooks' commands in one session's folder, and leaves nothing of them after `close`."""

    def __init__(self, surroundings: HookSurroundings, cwd: str, roots: Sequence[str]) -> None:
        """Start nothing yet."""
        self._surroundings = surroundings
        self._cwd = cwd
        self._roots = tuple(roots)
        self._commands: LocalCommands | None = None
        self._opening = anyio.Lock()

    async def run(self, hook: Hook, given: bytes) -> PipedResult:
        """Run a hook's command to its end. Raises WorkspaceError if it cannot start, or not as it must be confined."""
        confinement = "must" if hook.entry else "never"
        command = Command(hook.command, self._cwd, hook.timeout_s, confinement, is_quiet=True)
        async with self._opening:
            if self._commands is None:
                self._commands = await run_sync(open_commands, self._surroundings, self._cwd, self._roots)
        return await self._commands.run_piped(command, given)

    async def close(self) -> None:
        """Kill what hooks' commands left running."""
        if self._commands is not None:
            await self._commands.close()


def open_commands(given: HookSurroundings, cwd: str, roots: Sequence[str]) -> LocalCommands:
    """Return what runs commands in a folder that a user configured for it, besides those of the agent. Blocks."""
    bound = given.confinement()
    variables = command_environment(given.variables)
    within = tuple(map(os.path.realpath, roots))
    registry = ProcessRegistry()
    outputs = OutputFolder(temporary_folder(given.variables), registry.register_folder)
    sandbox = Sandbox(
        within,
        lambda: variables,
        lambda: bound.bounds_in(cwd),
        bound.is_public,
        find=bound.find,
        hidden=(given.private,),
        outputs=outputs.paths,
    )
    return LocalCommands(within, lambda path: path, lambda: variables, registry, outputs, sandbox)
