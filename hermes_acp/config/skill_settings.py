"""The settings of skills.

Knows: their defaults. Does not know: what a skill is, or where one lies.
"""

from typing import Annotated

from pydantic import Field

from hermes_acp.config.settings_section import Section


class SkillSettings(Section):
    """Whether skills are looked for at all, and whether the agent may write them.

    After a turn of `look_back_after_calls` calls it is to think of what to write; 0 is never.
    """

    enabled: bool = True
    learning: bool = True
    look_back_after_calls: Annotated[int, Field(ge=0)] = 10
