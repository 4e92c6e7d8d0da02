"""The settings of notes for later sessions and of an external memory service."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field, field_validator

from hermes_acp.config.settings_section import Section
from hermes_acp.core.plugins import PluginFolder

SERVICES: Final = "hermes_acp.memory.services"


def _known(name: str) -> str:
    known = PluginFolder[object](SERVICES, "SERVICE").names()
    if name not in known:
        raise ValueError(f"must be one of {', '.join(known)}")
    return name


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class MemoryServiceSettings(Section):
    """A memory service outside this machine. At most one is used."""

    provider: Annotated[str, AfterValidator(_known)]
    """The service."""
    api_key_variable: str | None = None
    """Variable that holds its key, if it is not the usual one."""
    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    """Address of the service, if you run it yourself."""
    workspace: Name = "hermes-acp"
    """Name under which the service keeps what it remembers."""
    user: Name = "user"
    """Name of the user there."""
    in_headless: bool = False
    """Whether `hermes-acp run` uses the service too."""


class MemorySettings(Section):
    """Notes for later sessions."""

    enabled: bool = True
    """Whether the agent keeps notes for later sessions and sees them."""
    ask: bool = False
    """Whether you are asked before each change of a note."""
    service: MemoryServiceSettings | None = None
    """A memory service, by name or with its settings."""

    @field_validator("service", mode="before")
    @classmethod
    def _is_one(cls, written: object) -> object:
        if isinstance(written, list | tuple):
            raise ValueError(
                "must name one service, because two would each store half and both receive everything"
            )
        return {"provider": written} if isinstance(written, str) else written
