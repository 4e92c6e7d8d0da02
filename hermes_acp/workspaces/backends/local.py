"""The workspace on this machine: its disk, its shell, its ripgrep, its sandbox.

Knows: how the parts of a workspace find each other here. Does not know: editors, tools, policy.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from ipaddress import ip_address

from msgspec import Struct, structs

from hermes_acp.core.closures import Closure
from hermes_acp.workspaces import confine
from hermes_acp.workspaces.folders import resolve_folders
from hermes_acp.workspaces.local_commands import LocalCommands
from hermes_acp.workspaces.local_files import LocalFiles
from hermes_acp.workspaces.machine import Machine
from hermes_acp.workspaces.output_folder import OutputFolder
from hermes_acp.workspaces.processes import Caretaker
from hermes_acp.workspaces.sandbox.bounds import Bounds
from hermes_acp.workspaces.sandbox.detection import Finder, find_way
from hermes_acp.workspaces.sandbox.sandbox import Sandbox
from hermes_acp.workspaces.surroundings import command_environment, temporary_folder


def _is_global(ip: str) -> bool:
    return ip_address(ip).is_global


def _nothing_shut(folder: str) -> tuple[Closure, ...]:
    del folder
    return ()


class SandboxSetup(Struct, frozen=True):
    """How sandboxes of workspaces are bound, looked up at their first command, and which addresses are nobody's own.

    `find` gives the way of confining that this machine has, `closures` what rules shut for commands of a session in a
    folder.
    """

    bounds: Callable[[], Bounds] = Bounds
    is_public: Callable[[str], bool] = _is_global
    find: Finder = find_way
    closures: Callable[[str], tuple[Closure, ...]] = _nothing_shut


class LocalBackend:
    """Opens workspaces on this machine."""

    name = "local"
    keeps_files_here = True

    def open(
        self,
        cwd: str,
        roots: Sequence[str],
        environment: Mapping[str, str],
        private: str = "",
        confinement: SandboxSetup | None = None,
    ) -> Machine:
        """Open a workspace; `cwd` and `roots` are absolute, and the workspace shows them with links resolved.

        `private` is the resolved path of the agent's own folder, which no search and no sandbox looks into.

        Raises BadRequest for a folder that is none, and OutsideRoots for a `cwd` in none of `roots`.
        """
        place, within = resolve_folders(cwd, roots)
        bound = confinement or SandboxSetup()

        @cache
        def variables() -> Mapping[str, str]:
            return command_environment(environment)

        def locate(path: str) -> str:
            return confine.locate(path, place, within)

        care = Caretaker()
        outputs = OutputFolder(temporary_folder(environment), care.note_folder)
        sandbox = Sandbox(
            within,
            variables,
            lambda: structs.replace(bound.bounds(), closed=lambda: bound.closures(cwd)),
            bound.is_public,
            find=bound.find,
            hidden=(private,) if private else (),
            outputs=outputs.paths,
        )
        commands = LocalCommands(within, locate, variables, care, outputs, sandbox)
        files = LocalFiles(
            place, within, variables, private=private, outputs=outputs.paths, apart=commands.search_apart
        )
        return Machine(files, commands)


BACKEND = LocalBackend()
