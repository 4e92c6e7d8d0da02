"""The settings for each backend: where commands run and where files are.

These settings are never read from a workspace, so no repository can weaken a container.
"""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from hermes_acp.config.settings_section import Positive, Section

BackendName = Literal["daytona", "docker", "local", "modal", "singularity", "ssh", "vercel"]
Folder = Annotated[str, Field(pattern=r"^/[^\x00-\x1f]*$")]
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][^\s\x00-\x1f]*$")]
Megabytes = Annotated[int, Field(ge=64, le=1 << 20)]
NO_NETWORK: Final = "none"


def _check_network(name: str) -> str:
    if name == "host":
        raise ValueError("containers never get the host's network")
    return name


class DockerSettings(Section):
    """A container on this machine, run by Docker or Podman."""

    image: Word | None = None
    """Image of the container. It must exist on this machine; images are never pulled."""
    engine: Literal["docker", "podman"] = "docker"
    """Container engine."""
    runtime: Word | None = None
    """Container runtime, such as `runsc`. Default: the engine's."""
    network: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$"), AfterValidator(_check_network)] = (
        NO_NETWORK
    )
    """Name of one of the engine's networks. `host` is not allowed."""
    memory_mb: Megabytes = 2048
    """Memory in megabytes. The container has no swap."""
    cpus: Positive = 2.0
    """Number of CPUs."""
    pids: Annotated[int, Field(ge=16, le=32768)] = 256
    """Maximum number of processes at once."""
    tmp_mb: Megabytes = 512
    """Size of `/tmp` in megabytes. It counts towards the container's memory."""
    start_timeout_s: Positive = 60.0
    """Seconds to wait for the container to start."""


class SshSettings(Section):
    """A remote machine, reached with the system's ssh and its configuration."""

    host: Word | None = None
    """Remote machine: a name from your ssh configuration, or an address."""
    user: Word | None = None
    """User on the remote machine. Default: from your ssh configuration."""
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Port. Default: from your ssh configuration."""
    identity_file: Folder | None = None
    """Key file. Default: from your ssh configuration."""
    config_file: Folder | None = None
    """Configuration file to use instead of `~/.ssh/config`."""
    folder: Folder | None = None
    """Working folder on the remote machine. Default: the session's own path, which must exist there."""
    connect_timeout_s: Positive = 20.0
    """Seconds to wait for a connection."""


class SingularitySettings(Section):
    """A container without a daemon, run by Apptainer or Singularity."""

    image: Annotated[str, Field(min_length=1, pattern=r"^[^-\s]\S*$")] | None = None
    """File, folder or address that the instance starts from."""
    network: bool = False
    """Whether the instance can use this machine's network."""
    memory_mb: Megabytes | None = None
    """Memory in megabytes."""
    cpus: Positive | None = None
    """Number of CPUs."""
    pids: Annotated[int, Field(ge=16, le=32768)] | None = None
    """Maximum number of processes at once."""
    start_timeout_s: Positive = 120.0
    """Seconds to wait for the instance to start."""


class CloudSettings(Section):
    """Settings shared by all sandboxes rented from a service."""

    keep_days: Annotated[int, Field(ge=0, le=365)] = 7
    """Days that the files of the sandbox are kept after the session closes, for when you resume it. `0`: not at all."""


class ModalSettings(CloudSettings):
    """A Modal sandbox. Sign in with `modal setup`, or set `MODAL_TOKEN_ID` and `MODAL_TOKEN_SECRET`."""

    image: Word = "python:3.12-slim"
    """Image of the sandbox, from a registry."""
    app: Word = "hermes-acp"
    """Modal app that the sandbox belongs to."""
    folder: Folder = "/workspace"
    """Working folder in the sandbox."""
    network: bool = True
    """Whether the sandbox has network access."""
    memory_mb: Megabytes = 2048
    """Memory in megabytes."""
    cpus: Positive = 2.0
    """Number of CPUs."""
    timeout_s: Annotated[int, Field(ge=60, le=86400)] = 3600
    """Maximum lifetime of the sandbox, in seconds."""


class DaytonaSettings(CloudSettings):
    """A Daytona sandbox. Its key is in `DAYTONA_API_KEY`. Set `snapshot` or `image`."""

    snapshot: Word | None = None
    """Daytona snapshot that the sandbox is created from."""
    image: Word | None = None
    """Image to create the sandbox from instead."""
    folder: Folder = "/home/daytona/workspace"
    """Working folder in the sandbox."""
    network: bool = True
    """Whether the sandbox has network access."""
    idle_minutes: Annotated[int, Field(ge=1)] = 15
    """Idle minutes after which Daytona stops the sandbox."""
    start_timeout_s: Positive = 120.0
    """Seconds to wait for the sandbox to start."""


class VercelSettings(CloudSettings):
    """A Vercel sandbox.

    Set `VERCEL_OIDC_TOKEN`, or `VERCEL_TOKEN` with `VERCEL_TEAM_ID` and `VERCEL_PROJECT_ID`.
    """

    image: Word | None = None
    """Image of the sandbox. Default: Vercel's own."""
    api_url: Annotated[str, Field(pattern=r"^https?://\S+$")] | None = None
    """API address. Default: Vercel's own."""
    folder: Folder = "/vercel/sandbox/workspace"
    """Working folder in the sandbox."""
    vcpus: Annotated[int, Field(ge=1, le=32)] = 2
    """Number of virtual CPUs."""
    timeout_s: Annotated[int, Field(ge=60, le=86400)] = 1800
    """Maximum lifetime of the sandbox, in seconds."""


class BackendsSettings(Section):
    """Where commands run, and the settings of each backend."""

    backend: BackendName = "local"
    """Where commands run."""
    daytona: DaytonaSettings = DaytonaSettings.defaults()
    docker: DockerSettings = DockerSettings.defaults()
    modal: ModalSettings = ModalSettings.defaults()
    singularity: SingularitySettings = SingularitySettings.defaults()
    ssh: SshSettings = SshSettings.defaults()
    vercel: VercelSettings = VercelSettings.defaults()
