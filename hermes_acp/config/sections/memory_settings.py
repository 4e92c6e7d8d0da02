"""The settings for notes kept for later sessions and for an external memory service."""

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
    """An external memory service. At most one is used."""

    provider: Annotated[str, AfterValidator(_known)]
    """Name of the service."""
    api_key_variable: str | None = None
    """Variable that holds the service's key, if it is not the usual one."""
    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    """Address of the service, if you host it yourself."""
    workspace: Name = "hermes-acp"
    """Name under which the service stores its memories."""
    user: Name = "user"
    """Your user name at the service."""
    in_headless: bool = False
    """Whether `hermes-acp run` also uses the service."""


class MemorySettings(Section):
    """Notes for later sessions."""

    enabled: bool = True
    """Whether the agent writes notes for later sessions and sees them."""
    ask: bool = False
    """Whether each change to a note needs your approval."""
    remind_after_turns: Annotated[int, Field(ge=0)] = 12
    """Turns without a new note or skill after which the model is reminded of them once. `0` turns reminders off."""
    service: MemoryServiceSettings | None = None
    """Memory service: its name, or its settings."""

    @field_validator("service", mode="before")
    @classmethod
    def _is_one(cls, written: object) -> object:
        if isinstance(written, list | tuple):
            raise ValueError(
                "must name one service, because two would each store half and both receive everything"
            )
        return {"provider": written} if isinstance(written, str) else written
