"""What is kept so that turns can be undone: its settings.

Knows: every setting, its bounds and its default. Does not know: how it is kept.
"""

from typing import Annotated

from pydantic import Field

from hermes_acp.config.settings_section import Positive, Section


class CheckpointSettings(Section):
    """How much is kept of each folder: so many turns, for so many days, in so many bytes in all.

    A file of more than `largest_file_bytes` is left out, by name.
    """

    enabled: bool = True
    keep_turns: Annotated[int, Field(ge=1, le=100_000)] = 200
    keep_days: Positive = 30.0
    largest_file_bytes: Annotated[int, Field(ge=1024)] = 10 << 20
    largest_store_bytes: Annotated[int, Field(ge=1 << 20)] = 2 << 30
