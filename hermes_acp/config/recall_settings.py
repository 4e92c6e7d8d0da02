"""The settings of finding things by their meaning.

Knows: whose model makes the vectors, and that nothing leaves the machine unless somebody said so. Does not know: any
model, what is looked for.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hermes_acp.config.settings_section import ProviderName, Section


class RecallSettings(Section):
    """Who tells what texts mean: nobody, a model on this machine, or a provider's endpoint for embeddings.

    `provider` and `model` are for that endpoint; without a provider it is the one that answers. `most_texts` is how
    many texts one process has embedded in the background.
    """

    embeddings: Literal["off", "local", "provider"] = "off"
    provider: ProviderName | None = None
    model: str | None = Field(default=None, min_length=1)
    dimensions: Annotated[int, Field(ge=16, le=4096)] | None = None
    most_texts: Annotated[int, Field(ge=0)] = 2_000
    names_skills: bool = True

    @model_validator(mode="after")
    def _check_names_model(self) -> Self:
        if self.embeddings == "provider" and not self.model:
            raise ValueError("embeddings: provider needs the model's name, such as text-embedding-3-small")
        return self
