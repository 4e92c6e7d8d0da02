"""A workspace whose commands run in an instance of apptainer or singularity, and whose folders are this machine's own.

Knows: what an instance of ours is made of. Does not know: the program's options, policy.
"""

from collections.abc import Mapping, Sequence

from hermes_acp.config.backends import SingularitySettings
from hermes_acp.core.errors import BadConfig
from hermes_acp.workspaces.containers.engine import mounts_of
from hermes_acp.workspaces.containers.instance import InstanceEngine, InstanceLimits
from hermes_acp.workspaces.containers.mounted import open_mounted
from hermes_acp.workspaces.containers.unattended import Precautions
from hermes_acp.workspaces.folders import resolve_folders
from hermes_acp.workspaces.machine import Machine
from hermes_acp.workspaces.ripgrep import find_program
from hermes_acp.workspaces.surroundings import command_environment, temporary_folder


class SingularityBackend:
    """Opens workspaces with an instance each."""

    name = "singularity"
    keeps_files_here = True

    def open(
        self,
        cwd: str,
        roots: Sequence[str],
        environment: Mapping[str, str],
        private: str = "",
        settings: SingularitySettings | None = None,
        precautions: Precautions | None = None,
    ) -> Machine:
        """Open a workspace; nothing is started yet. Raises BadConfig, BadRequest, OutsideRoots."""
        settings = settings or SingularitySettings()
        place, within = resolve_folders(cwd, roots)
        precautions = precautions or Precautions()
        mounts = mounts_of(within, private, precautions.guarded)
        if mounts.hidden:
            raise BadConfig(
                f"{mounts.hidden}, this agent's own folder, lies in a folder of the session.",
                hint="Open a project's own folder, or use another backend: an instance cannot leave it out.",
            )
        if settings.image is None:
            raise BadConfig(
                "No image is named for instances.",
                hint="Set `image` in the section `singularity` of config.yaml.",
            )
        found = (find_program(name, environment, within) for name in ("apptainer", "singularity"))
        program = next((each for each in found if each), None)
        if program is None:
            raise BadConfig(
                "Neither apptainer nor singularity is installed.",
                hint="Install one, or choose another backend.",
            )
        variables = command_environment(environment)
        limits = InstanceLimits(
            image=settings.image,
            has_network=settings.network,
            memory_mb=settings.memory_mb,
            cpus=settings.cpus,
            pids=settings.pids,
            start_s=settings.start_timeout_s,
        )
        engine = InstanceEngine(program, limits, mounts, variables)
        scratch = temporary_folder(environment)
        return open_mounted(
            engine, place, within, variables, private=private, scratch=scratch, precautions=precautions
        )


BACKEND = SingularityBackend()
