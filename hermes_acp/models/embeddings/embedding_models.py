"""Choose the embedding model from the settings. Blocks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes_acp.core.errors import ConfigError

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.ports.embedding_ports import Embedder


def embedder_of(
    settings: "Settings", variables: Mapping[str, str], choice: "ModelChoice | None"
) -> "Embedder | None":
    """Return the embedding model, or None if none is configured; `choice` is the model that answers the user.

    Raises ConfigError or AuthRequired.
    """
    section = settings.recall
    if section.embeddings == "off":
        return None
    from hermes_acp.storage.search.vector_store import require_vectors

    require_vectors()
    if section.embeddings == "local":
        from hermes_acp.models.embeddings.local_embeddings import local_embedder

        return local_embedder(section.model)
    if section.provider:
        from hermes_acp.models.wire.chosen_endpoint import choice_of

        choice = choice_of(settings, variables, section.provider)
    if choice is None:
        raise ConfigError(
            "`recall.embeddings` is `provider`, but no provider is set up.", hint="Set recall.provider."
        )
    return _endpoint(settings, choice)


def _endpoint(settings: "Settings", choice: "ModelChoice") -> "Embedder":
    from hermes_acp.models.embeddings.endpoint_embeddings import EndpointEmbedder
    from hermes_acp.models.wire.chosen_endpoint import openai_endpoint

    hint = "Name another provider with recall.provider, or set recall.embeddings to local."
    endpoint = openai_endpoint(settings, choice, purpose="embeddings", hint=hint)
    assert settings.recall.model, "the settings check requires a model"
    return EndpointEmbedder(endpoint, settings.recall.model, settings.recall.dimensions)
