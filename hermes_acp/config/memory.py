"""The settings of the agent's notes for later sessions.

Knows: their defaults. Does not know: what is noted, or where.
"""

from hermes_acp.config.section import Section


class MemorySettings(Section):
    """Whether notes are kept and shown at all, and whether each change is put to the user first."""

    enabled: bool = True
    ask: bool = False
