"""The base class of all settings sections."""

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hermes_acp.config.provider_presets import check_name, check_wire

Positive = Annotated[float, Field(gt=0)]


class Section(BaseModel):
    """A section of the settings, with its values and their validation.

    The validator is built on first use, since most starts have nothing to validate.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def defaults(cls) -> Self:
        """Return the section with its default values, which are valid as declared."""
        return cls.model_construct()


ProviderName = Annotated[str, AfterValidator(check_name)]
WireName = Annotated[str, AfterValidator(check_wire)]
