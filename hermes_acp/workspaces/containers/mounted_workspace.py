"""A workspace with this machine's folders, whose commands run in a container that mounts them.

The folders are mounted at the same paths, so files are read and written here directly, bypassing the
container.
"""

from collections.abc import Mapping

from hermes_acp.workspaces.composite_workspace import CompositeWorkspace
from hermes_acp.workspaces.containers.container_host import ContainerHost, Engine
from hermes_acp.workspaces.containers.mounted_commands import MountedCommands, MountRestrictions
from hermes_acp.workspaces.local_files import LocalFiles
from hermes_acp.workspaces.output_files import OutputFolder
from hermes_acp.workspaces.remote.remote_commands import RemoteCommands


def open_mounted(
    engine: Engine,
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
    commands = RemoteCommands(ContainerHost(engine), files.locate, outputs=outputs)
    return CompositeWorkspace(files, MountedCommands(commands, within, restrictions))
