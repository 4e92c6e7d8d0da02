"""A workspace with this machine's folders, whose commands run in containers that mount them.

The folders are mounted at the same paths, so files are read and written here directly, bypassing the
container.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from msgspec import Struct

from hermes_acp.workspaces.composite_workspace import CompositeWorkspace
from hermes_acp.workspaces.containers.confined_containers import ConfinedContainers, NewEngine
from hermes_acp.workspaces.containers.confined_mounts import ConfinedMounts
from hermes_acp.workspaces.containers.container_host import ContainerHost, Engine
from hermes_acp.workspaces.containers.engine_options import Mounts
from hermes_acp.workspaces.containers.mounted_commands import MountedCommands, MountRestrictions
from hermes_acp.workspaces.local_files import LocalFiles
from hermes_acp.workspaces.output_files import OutputFolder
from hermes_acp.workspaces.remote.remote_commands import RemoteCommands
from hermes_acp.workspaces.remote.remote_process import RemoteProcess

REPLACED: Final = "shown"


class Engines(Struct, frozen=True):
    """The engine for approved commands, with its mounts, and a function that creates engines for the others."""

    usual: Engine
    mounts: Mounts
    confined: NewEngine


def open_mounted(
    engines: Engines,
    place: str,
    within: tuple[str, ...],
    variables: Mapping[str, str],
    *,
    private: str,
    scratch: str,
    restrictions: MountRestrictions,
) -> CompositeWorkspace:
    """Open a workspace at `place`, in the folders `within`; long outputs are stored in the folder `scratch`."""
    outputs = OutputFolder(scratch)
    files = LocalFiles(place, within, lambda: variables, private=private, outputs=outputs.paths)
    live: dict[str, RemoteProcess] = {}
    new_commands = partial(_commands, files, outputs, live)
    confined = ConfinedContainers(engines.confined, new_commands)
    mounts = ConfinedMounts(engines.mounts, partial(outputs.folder, REPLACED))
    usual = new_commands(ContainerHost(engines.usual))
    return CompositeWorkspace(files, MountedCommands(usual, confined, mounts, within, restrictions))


def _commands(
    files: LocalFiles, outputs: OutputFolder, live: dict[str, RemoteProcess], host: ContainerHost
) -> RemoteCommands:
    return RemoteCommands(host, files.locate, outputs=outputs, live=live)
