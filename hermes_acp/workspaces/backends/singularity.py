"""A workspace whose commands run in an apptainer or singularity instance and use this machine's own folders."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from hermes_acp.config.sections.backend_settings import SingularitySettings
from hermes_acp.core.errors import ConfigError
from hermes_acp.workspaces.command_environment import command_environment, temporary_folder
from hermes_acp.workspaces.composite_workspace import CompositeWorkspace
from hermes_acp.workspaces.containers.apptainer_engine import ApptainerEngine, ApptainerLimits
from hermes_acp.workspaces.containers.engine_options import plan_mounts
from hermes_acp.workspaces.containers.mounted_commands import MountRestrictions
from hermes_acp.workspaces.containers.mounted_workspace import Engines, open_mounted
from hermes_acp.workspaces.ripgrep import find_program
from hermes_acp.workspaces.workspace_folders import resolve_folders


class SingularityBackend:
    """Opens workspaces, each with its own instance."""

    name = "singularity"
    keeps_files_here = True

    def open(
        self,
        cwd: str,
        roots: Sequence[str],
        environment: Mapping[str, str],
        private: str = "",
        settings: SingularitySettings | None = None,
        restrictions: MountRestrictions | None = None,
    ) -> CompositeWorkspace:
        """Open a workspace, but start nothing yet. Raises ConfigError, BadRequest or OutsideRoots."""
        settings = settings or SingularitySettings()
        place, within = resolve_folders(cwd, roots)
        restrictions = restrictions or MountRestrictions()
        mounts = plan_mounts(within, private, restrictions.guarded)
        if mounts.hidden:
            raise ConfigError(
                f"{mounts.hidden}, this agent's own folder, is inside a folder of the session.",
                hint="Open a project's own folder, or use another backend: an instance cannot hide it.",
            )
        if settings.image is None:
            raise ConfigError(
                "No image for instances is configured.",
                hint="Set `image` in the section `singularity` of config.yaml.",
            )
        found = (find_program(name, environment, within) for name in ("apptainer", "singularity"))
        program = next((each for each in found if each), None)
        if program is None:
            raise ConfigError(
                "Neither apptainer nor singularity is installed.",
                hint="Install one, or choose another backend.",
            )
        variables = command_environment(environment)
        limits = ApptainerLimits(
            image=settings.image,
            has_network=settings.network,
            memory_mb=settings.memory_mb,
            cpus=settings.cpus,
            pids=settings.pids,
            start_s=settings.start_timeout_s,
        )
        confined = structs.replace(limits, has_network=False)
        engines = Engines(
            ApptainerEngine(program, limits, mounts, variables),
            mounts,
            lambda view: ApptainerEngine(program, confined, view, variables),
        )
        scratch = temporary_folder(environment)
        return open_mounted(
            engines, place, within, variables, private=private, scratch=scratch, restrictions=restrictions
        )


BACKEND = SingularityBackend()
