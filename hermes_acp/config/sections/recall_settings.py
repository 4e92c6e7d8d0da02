"""The settings for semantic search. By default, no text leaves the machine."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from hermes_acp.config.settings_section import ProviderName, Section

ENGLISH_MODEL: Final = "all-MiniLM-L6-v2"
LOCAL_MODELS: Final = ("multilingual-e5-small", ENGLISH_MODEL)


class RecallSettings(Section):
    """Semantic search."""

    embeddings: Literal["off", "local", "provider"] = "off"
    """Source of the embeddings: none, a model on this machine, or a provider."""
    provider: ProviderName | None = None
    """Embedding provider. Default: the current provider."""
    model: str | None = Field(default=None, min_length=1)
    """Embedding model, such as `text-embedding-3-small`; required with `embeddings: provider`. With `local`:
    `multilingual-e5-small` (default), or `all-MiniLM-L6-v2`, which is better for English.
    """
    dimensions: Annotated[int, Field(ge=16, le=4096)] | None = None
    """Vector length, if the model supports several."""
    most_texts: Annotated[int, Field(ge=0)] = 2_000
    """Maximum number of passages that a process embeds in the background."""
    names_skills: bool = True
    """Whether the agent tells the model which skills resemble a prompt."""

    @model_validator(mode="after")
    def _check_names_model(self) -> Self:
        if self.embeddings == "provider" and not self.model:
            raise ValueError("embeddings: provider needs the model's name, such as text-embedding-3-small")
        if self.embeddings == "local" and self.model not in (None, *LOCAL_MODELS):
            raise ValueError(f"embeddings: local has the models {' and '.join(LOCAL_MODELS)}")
        return self
