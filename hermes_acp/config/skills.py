"""The settings of skills.

Knows: their defaults. Does not know: what a skill is, or where one lies.
"""

from hermes_acp.config.section import Section


class SkillSettings(Section):
    """Whether skills are looked for at all."""

    enabled: bool = True
