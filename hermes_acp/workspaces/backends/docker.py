"""A workspace whose commands run in a docker or podman container with this machine's own folders."""

import os
from collections.abc import Mapping, Sequence

from msgspec import structs

from hermes_acp.config.sections.backend_settings import DockerSettings
from hermes_acp.core.errors import ConfigError
from hermes_acp.workspaces.command_environment import command_environment, temporary_folder
from hermes_acp.workspaces.composite_workspace import CompositeWorkspace
from hermes_acp.workspaces.containers.container_engine import DockerEngine
from hermes_acp.workspaces.containers.engine_options import Limits, plan_mounts
from hermes_acp.workspaces.containers.mounted_commands import MountRestrictions
from hermes_acp.workspaces.containers.mounted_workspace import Engines, open_mounted
from hermes_acp.workspaces.ripgrep import find_program
from hermes_acp.workspaces.workspace_folders import resolve_folders


class DockerBackend:
    """Opens workspaces, each with its own container."""

    name = "docker"
    keeps_files_here = True

    def open(
        self,
        cwd: str,
        roots: Sequence[str],
        environment: Mapping[str, str],
        private: str = "",
        settings: DockerSettings | None = None,
        restrictions: MountRestrictions | None = None,
    ) -> CompositeWorkspace:
        """Open a workspace, but start nothing yet. Raises ConfigError, BadRequest or OutsideRoots."""
        settings = settings or DockerSettings()
        place, within = resolve_folders(cwd, roots)
        restrictions = restrictions or MountRestrictions()
        mounts = plan_mounts(within, private, restrictions.guarded)
        variables = command_environment(environment)
        program = find_program(settings.engine, environment, within)
        if program is None:
            raise ConfigError(
                f"{settings.engine} is not installed.", hint="Install it, or choose another backend."
            )
        _refuse_remote_engine(environment)
        about = os.stat(place)
        owner = (about.st_uid, about.st_gid)
        limits = _limits(settings)
        confined = structs.replace(limits, network="none")
        engines = Engines(
            DockerEngine(program, limits, mounts, owner, variables),
            mounts,
            lambda view: DockerEngine(program, confined, view, owner, variables),
        )
        scratch = temporary_folder(environment)
        return open_mounted(
            engines, place, within, variables, private=private, scratch=scratch, restrictions=restrictions
        )


def _limits(settings: DockerSettings) -> Limits:
    if settings.image is None:
        raise ConfigError(
            "No image for containers is configured.",
            hint="Set `image` in the section `docker` of config.yaml.",
        )
    return Limits(
        image=settings.image,
        engine=settings.engine,
        runtime=settings.runtime or "",
        network=settings.network,
        memory_mb=settings.memory_mb,
        cpus=settings.cpus,
        pids=settings.pids,
        tmp_mb=settings.tmp_mb,
        start_s=settings.start_timeout_s,
    )


def _refuse_remote_engine(environment: Mapping[str, str]) -> None:
    """Refuse an engine on another machine, where the same paths name different folders."""
    for variable in ("DOCKER_HOST", "CONTAINER_HOST"):
        address = environment.get(variable, "")
        if address and not address.startswith(("unix:", "npipe:", "fd:")):
            raise ConfigError(
                f"{variable} names an engine on another machine, which does not have the session's folders.",
                hint="Use an engine on this machine, or the ssh backend.",
            )


BACKEND = DockerBackend()
