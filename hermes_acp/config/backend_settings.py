"""Where commands run and files lie: the settings of each backend.

Knows: every setting, its bounds and its default. Does not know: how a backend works.
All of it is a person's own: nothing is read from a workspace, so no repository can widen a container.
"""

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, Field

from hermes_acp.config.settings_section import Positive, Section

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings

BackendName = Literal["daytona", "docker", "local", "modal", "singularity", "ssh", "vercel"]
Folder = Annotated[str, Field(pattern=r"^/[^\x00-\x1f]*$")]
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][^\s\x00-\x1f]*$")]
Megabytes = Annotated[int, Field(ge=64, le=1 << 20)]
NO_NETWORK: Final = "none"


def _check_network(name: str) -> str:
    if name == "host":
        raise ValueError("a container never gets the network of the host")
    return name


class DockerSettings(Section):
    """A container on this machine, by docker or podman. `image` must be there: none is ever pulled.

    `network` is the name of one of the engine's networks; `host` is none that a container may have.
    """

    image: Word | None = None
    engine: Literal["docker", "podman"] = "docker"
    runtime: Word | None = None
    network: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$"), AfterValidator(_check_network)] = (
        NO_NETWORK
    )
    memory_mb: Megabytes = 2048
    cpus: Positive = 2.0
    pids: Annotated[int, Field(ge=16, le=32768)] = 256
    tmp_mb: Megabytes = 512
    start_timeout_s: Positive = 60.0


class SshSettings(Section):
    """A machine reached by the system's own ssh, with whatever is configured for it there.

    `folder` is the folder there in which sessions work; without it, the session's own path, which has to be there too.
    """

    host: Word | None = None
    user: Word | None = None
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    identity_file: Folder | None = None
    config_file: Folder | None = None
    folder: Folder | None = None
    connect_timeout_s: Positive = 20.0


class SingularitySettings(Section):
    """A container without a daemon, by apptainer or singularity; `image` is a file, a folder or an address."""

    image: Annotated[str, Field(min_length=1, pattern=r"^[^-\s]\S*$")] | None = None
    network: bool = False
    memory_mb: Megabytes | None = None
    cpus: Positive | None = None
    pids: Annotated[int, Field(ge=16, le=32768)] | None = None
    start_timeout_s: Positive = 120.0


class ModalSettings(Section):
    """A sandbox at Modal; its keys are Modal's own (`modal setup`, MODAL_TOKEN_ID and MODAL_TOKEN_SECRET)."""

    image: Word = "python:3.12-slim"
    app: Word = "hermes-acp"
    folder: Folder = "/workspace"
    network: bool = True
    memory_mb: Megabytes = 2048
    cpus: Positive = 2.0
    timeout_s: Annotated[int, Field(ge=60, le=86400)] = 3600


class DaytonaSettings(Section):
    """A sandbox at Daytona; its key is in DAYTONA_API_KEY, `snapshot` or `image` names what it is made from."""

    snapshot: Word | None = None
    image: Word | None = None
    folder: Folder = "/home/daytona/workspace"
    network: bool = True
    idle_minutes: Annotated[int, Field(ge=1)] = 15
    start_timeout_s: Positive = 120.0


class VercelSettings(Section):
    """A sandbox at Vercel; VERCEL_OIDC_TOKEN opens it, or VERCEL_TOKEN with VERCEL_TEAM_ID and VERCEL_PROJECT_ID."""

    image: Word | None = None
    api_url: Annotated[str, Field(pattern=r"^https?://\S+$")] | None = None
    folder: Folder = "/vercel/sandbox/workspace"
    vcpus: Annotated[int, Field(ge=1, le=32)] = 2
    timeout_s: Annotated[int, Field(ge=60, le=86400)] = 1800


def configured_backends(settings: "Settings") -> tuple[str, ...]:
    """Return the backends a session can be on: the one in use first, this machine, and those that were set up."""
    named = {
        "docker": settings.docker.image,
        "singularity": settings.singularity.image,
        "ssh": settings.ssh.host,
    }
    elsewhere = (name for name in ("daytona", "modal", "vercel") if name in settings.model_fields_set)
    ready = (*(name for name, value in named.items() if value), *elsewhere)
    return tuple(dict.fromkeys((settings.backend, "local", *ready)))
