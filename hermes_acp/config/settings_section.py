"""The base of every section of the settings."""

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hermes_acp.config.provider_presets import check_name

Positive = Annotated[float, Field(gt=0)]


class Section(BaseModel):
    """A part of the settings: its values, and its validation.

    The validator is built when something is first checked: most starts have nothing to check.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def defaults(cls) -> Self:
        """Return the section of somebody who wrote nothing: its defaults, which are right as they are declared."""
        return cls.model_construct()


ProviderName = Annotated[str, AfterValidator(check_name)]
