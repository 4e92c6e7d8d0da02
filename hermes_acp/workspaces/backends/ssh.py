"""A workspace on a machine reached with the system's own ssh: its files and its commands.

Each command starts with the working directory and variables with which the previous one ended.
"""

from collections.abc import Mapping, Sequence
from secrets import token_hex

from hermes_acp.config.sections.backend_settings import SshSettings
from hermes_acp.core.errors import ConfigError, OutsideRoots
from hermes_acp.workspaces.command_environment import command_environment
from hermes_acp.workspaces.composite_workspace import CompositeWorkspace
from hermes_acp.workspaces.remote.command_scripts import kill_script
from hermes_acp.workspaces.remote.remote_commands import RemoteCommands
from hermes_acp.workspaces.remote.remote_files import RemoteFiles
from hermes_acp.workspaces.remote.ssh_host import Address, SshHost
from hermes_acp.workspaces.ripgrep import find_program


class SshBackend:
    """Opens workspaces on another machine."""

    name = "ssh"
    keeps_files_here = False
    is_cloud = False

    def open(
        self,
        cwd: str,
        roots: Sequence[str],
        environment: Mapping[str, str],
        private: str = "",
        settings: SshSettings | None = None,
    ) -> CompositeWorkspace:
        """Open a workspace, but connect to nothing yet. Raises ConfigError.

        If a remote folder is configured, the session uses only that folder, regardless of its local folders.
        """
        settings = settings or SshSettings()
        if settings.host is None:
            raise ConfigError(
                "No host for ssh is configured.", hint="Set `host` in the section `ssh` of config.yaml."
            )
        variables = command_environment(environment)
        program = find_program("ssh", environment, roots)
        if program is None:
            raise ConfigError(
                "ssh is not installed.", hint="Install the OpenSSH client, or choose another backend."
            )
        address = Address(
            host=settings.host,
            user=settings.user or "",
            port=settings.port or 0,
            identity_file=settings.identity_file or "",
            config_file=settings.config_file or "",
            connect_s=settings.connect_timeout_s,
        )
        mark = token_hex(12)
        host = SshHost(program, address, variables, kill_script(mark))
        place, within = (settings.folder, (settings.folder,)) if settings.folder else (cwd, tuple(roots))
        files = RemoteFiles(host, place, within)
        commands = RemoteCommands(host, files.locate, on_move=lambda folder: move(folder), mark=mark)
        machine = CompositeWorkspace(files, commands)

        def move(folder: str) -> str:
            try:
                files.locate(folder)
            except OutsideRoots:
                told = f"the shell left the session's folders for {folder}"
                return f"\n[{told}; the next command runs in {machine.cwd} again]"
            files.cwd = machine.cwd = folder
            return f"\n[the working directory is now {folder}]"

        return machine


BACKEND = SshBackend()
