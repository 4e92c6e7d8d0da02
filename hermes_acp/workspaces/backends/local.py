"""The workspace on this machine: its disk, its shell, its ripgrep, its sandbox."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from ipaddress import ip_address

from msgspec import Struct, structs

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.workspaces import path_confinement
from hermes_acp.workspaces.command_environment import command_environment, temporary_folder
from hermes_acp.workspaces.composite_workspace import CompositeWorkspace
from hermes_acp.workspaces.local_commands import LocalCommands
from hermes_acp.workspaces.local_files import LocalFiles
from hermes_acp.workspaces.output_files import OutputFolder
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry
from hermes_acp.workspaces.sandbox.command_sandbox import Sandbox
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import SandboxDetector, detect_sandbox
from hermes_acp.workspaces.sandbox.sandbox_policy import SandboxPolicy
from hermes_acp.workspaces.workspace_folders import resolve_folders


def _is_global(ip: str) -> bool:
    return ip_address(ip).is_global


def _nothing_shut(folder: str) -> tuple[DeniedPath, ...]:
    del folder
    return ()


class SandboxSetup(Struct, frozen=True):
    """The limits on workspaces' sandboxes, looked up at the first command, and a check for public addresses.

    `find` returns this machine's confinement method; `denied_paths` returns what rules deny to the
    commands of a session in a folder.
    """

    bounds: Callable[[], SandboxPolicy] = SandboxPolicy
    is_public: Callable[[str], bool] = _is_global
    find: SandboxDetector = detect_sandbox
    denied_paths: Callable[[str], tuple[DeniedPath, ...]] = _nothing_shut

    def bounds_in(self, cwd: str) -> SandboxPolicy:
        """Return the limits on the commands of a session in a folder."""
        return structs.replace(self.bounds(), closed=lambda: self.denied_paths(cwd))


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
    ) -> CompositeWorkspace:
        """Open a workspace; `cwd` and `roots` are absolute, and the workspace shows them with links resolved.

        `private` is the resolved path of the agent's own folder, which is hidden from searches and
        sandboxes. Raises BadRequest for a path that is not a folder, and OutsideRoots for a `cwd` in none
        of `roots`.
        """
        place, within = resolve_folders(cwd, roots)
        bound = confinement or SandboxSetup()

        @cache
        def variables() -> Mapping[str, str]:
            return command_environment(environment)

        def locate(path: str) -> str:
            return path_confinement.locate(path, place, within)

        registry = ProcessRegistry()
        outputs = OutputFolder(temporary_folder(environment), registry.register_folder)
        sandbox = Sandbox(
            within,
            variables,
            lambda: bound.bounds_in(cwd),
            bound.is_public,
            find=bound.find,
            hidden=(private,) if private else (),
            outputs=outputs.paths,
        )
        commands = LocalCommands(within, locate, variables, registry, outputs, sandbox)
        files = LocalFiles(
            place,
            within,
            variables,
            private=private,
            outputs=outputs.paths,
            sandboxed=commands.search_sandboxed,
        )
        return CompositeWorkspace(files, commands)


BACKEND = LocalBackend()
