"""The settings of the agent's notes for later sessions, and of a service outside that remembers too.

Knows: their defaults, that there is one service at most. Does not know: what is noted, or where.
"""

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
    """Which service remembers, under which names, and the variable its key is in.

    Without an editor it is neither asked nor told anything, unless `in_headless` says so.
    """

    provider: Annotated[str, AfterValidator(_known)]
    api_key_variable: str | None = None
    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    workspace: Name = "hermes-acp"
    user: Name = "user"
    in_headless: bool = False


class MemorySettings(Section):
    """Whether notes are kept and shown at all, whether each change is put to the user first, and who remembers too."""

    enabled: bool = True
    ask: bool = False
    service: MemoryServiceSettings | None = None

    @field_validator("service", mode="before")
    @classmethod
    def _is_one(cls, written: object) -> object:
        if isinstance(written, list | tuple):
            raise ValueError(
                "must name one service, because two would each store half and both receive everything"
            )
        return {"provider": written} if isinstance(written, str) else written
