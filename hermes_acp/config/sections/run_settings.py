"""`runs:` in a settings file."""

from typing import Annotated

from pydantic import Field

from hermes_acp.config.settings_section import Section


class RunSettings(Section):
    """Work that goes on without a client."""

    keep_days: Annotated[int, Field(ge=1)] | None = 90
    """Days after which the resident process forgets a run that has ended. Its session stays. `null`: never."""


class ResidentSettings(Section):
    """What the resident process does by itself."""

    runs: RunSettings = RunSettings.defaults()
