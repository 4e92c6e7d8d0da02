"""`builtin_tools:` in a settings file."""

from hermes_acp.config.settings_section import Section


class BuiltinToolSettings(Section):
    """Which built-in tools sessions have."""

    builtin_tools: tuple[str, ...] | None = None
    """Names of the built-in tools that sessions have; an empty list leaves only those of servers, skills and your own.
    Default: all.
    """
