"""The settings for checkpoints."""

from typing import Annotated

from pydantic import Field

from hermes_acp.config.settings_section import Positive, Section


class CheckpointSettings(Section):
    """What is stored per folder so that turns can be undone."""

    enabled: bool = True
    """Whether turns can be undone."""
    keep_turns: Annotated[int, Field(ge=1, le=100_000)] = 200
    """Turns kept per folder."""
    keep_days: Positive = 30.0
    """Days for which turns are kept."""
    largest_file_bytes: Annotated[int, Field(ge=1024)] = 10 << 20
    """Larger files are not stored, only listed by name."""
    largest_store_bytes: Annotated[int, Field(ge=1 << 20)] = 2 << 30
    """Maximum size per folder. When it is exceeded, the older half is deleted."""
