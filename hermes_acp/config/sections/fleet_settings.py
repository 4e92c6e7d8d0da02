"""`fleet:` in a settings file."""

from typing import Annotated, Final

from pydantic import Field

from hermes_acp.config.settings_section import Section

NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$"


class FleetSettings(Section):
    """Settings for runs on many machines. They apply if `HERMES_FLEET_DATABASE` is set."""

    address: str = "127.0.0.1:7233"
    """Host and port of the Temporal server."""
    namespace: str = "default"
    """Temporal namespace."""
    tls: bool = False
    """Whether the connection to Temporal is encrypted."""
    tenant: str | None = Field(default=None, pattern=NAME)
    """Name of this profile in the fleet. Default: the profile's name."""
    pool: str | None = Field(default=None, pattern=NAME)
    """Group of workers for the runs. Profiles with the same pool share its workers fairly. Default: the
    tenant's own.
    """
    workspaces: str = ""
    """Address of a bare git repository that all machines can reach: a shared folder, `ssh://HOST/PATH` or `HOST:PATH`.
    Workers store the states of their runs' folders there, so that another machine can continue. Empty: folders stay on
    their machine.
    """
    move_after_seconds: Annotated[float, Field(ge=0)] = 60.0
    """Seconds that a run waits for a free worker on the machine that has its folder before another machine continues
    it.
    """
    max_running: Annotated[int, Field(ge=0)] = 0
    """Maximum number of this profile's runs in progress at once in the whole fleet. `0`: no limit."""
