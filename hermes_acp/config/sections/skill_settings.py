"""The settings for skills."""

from typing import Annotated

from pydantic import Field

from hermes_acp.config.settings_section import Section


class SkillSettings(Section):
    """Skills, and whether the agent learns new ones."""

    enabled: bool = True
    """Whether the agent uses skills."""
    disabled: tuple[str, ...] = ()
    """Names of skills that are not used, wherever they are stored, such as `[write-a-skill]`."""
    learning: bool = True
    """Whether the agent can write its own skills."""
    look_back_after_calls: Annotated[int, Field(ge=0)] = 10
    """Minimum number of tool calls after which a turn is reviewed. `0` turns reviews off."""
