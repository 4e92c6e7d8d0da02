"""Run commands that users configure: hooks, and checks before a merge."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.workspaces.backends.local import SandboxSetup
from hermes_acp.workspaces.command_environment import command_environment, temporary_folder
from hermes_acp.workspaces.local_commands import LocalCommands
from hermes_acp.workspaces.output_files import OutputFolder
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry
from hermes_acp.workspaces.sandbox.command_sandbox import Sandbox
from hermes_acp.workspaces.sandbox_setup import ConfinementInputs, sandbox_setup

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings


class CommandSurroundings(Struct, frozen=True):
    """The environment for such commands: variables, private folder, and sandbox limits."""

    variables: Mapping[str, str]
    private: str
    confinement: Callable[[], SandboxSetup]


def surroundings_of(
    environment: Environment,
    settings: "Callable[[], Settings | None]",
    confinement: ConfinementInputs,
    variables: Mapping[str, str],
) -> CommandSurroundings:
    """Return the surroundings for a home folder; `settings` returns the settings once they are loaded.

    `variables` are added to those of the process.
    """
    return CommandSurroundings(
        {**environment.variables, **variables},
        str(environment.private_folder.resolve()),
        lambda: sandbox_setup(settings, confinement),
    )


def open_commands(given: CommandSurroundings, cwd: str, roots: Sequence[str]) -> LocalCommands:
    """Return an object that runs such commands in a folder. Blocks."""
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
