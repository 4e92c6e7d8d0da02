"""What every section of the settings has in common.

Knows: that a section is frozen and takes no name it does not know. Does not know: any section.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hermes_acp.config.presets import check_name

Positive = Annotated[float, Field(gt=0)]


class Section(BaseModel):
    """A part of the settings: values that hold, and mistakes that are told."""

    model_config = ConfigDict(frozen=True, extra="forbid")


ProviderName = Annotated[str, AfterValidator(check_name)]
