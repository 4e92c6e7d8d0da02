"""Choose the embedding model from the settings. Blocks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hermes_acp.config.provider_presets import preset_of
from hermes_acp.core.errors import ConfigError

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.ports.embedding_ports import Embedder

EMBEDDING_APIS: Final = ("openai_compatible", "openai_responses")


def embedder_of(
    settings: "Settings", variables: Mapping[str, str], choice: "ModelChoice | None"
) -> "Embedder | None":
    """Return the embedding model, or None if none is configured; `choice` is the model that answers the user.

    Raise ConfigError, AuthRequired.
    """
    section = settings.recall
    if section.embeddings == "off":
        return None
    from hermes_acp.storage.search.vector_store import require_vectors

    require_vectors()
    if section.embeddings == "local":
        from hermes_acp.models.embeddings.local_embeddings import local_embedder

        return local_embedder()
    if section.provider:
        choice = _named(settings, variables, section.provider)
    if choice is None:
        raise ConfigError(
            "`recall.embeddings` is provider, and none is set up.", hint="Name one: recall.provider."
        )
    return _endpoint(settings, choice)


def _named(settings: "Settings", variables: Mapping[str, str], provider: str) -> "ModelChoice | None":
    from hermes_acp.config.model_choice import choose_model, without_choice

    wanted = settings.model_copy(update={"provider": provider, "model": None})
    return choose_model(wanted, without_choice(variables))


def _endpoint(settings: "Settings", choice: "ModelChoice") -> "Embedder":
    from hermes_acp.config.settings import ProviderSettings
    from hermes_acp.models.embeddings.endpoint_embeddings import EndpointEmbedder
    from hermes_acp.models.wire.endpoints import Endpoint

    preset = preset_of(choice.provider)
    section = settings.providers.get(choice.provider, ProviderSettings.defaults())
    if (section.wire or preset.wire_at(choice.base_url)) not in EMBEDDING_APIS:
        raise ConfigError(
            f"{preset.label} has no endpoint for embeddings that hermes-acp can ask.",
            hint="Name another provider with recall.provider, or set recall.embeddings to local.",
        )
    endpoint = Endpoint(
        base_url=choice.base_url,
        api_key=choice.api_key,
        key_variable=choice.key_variable,
        connect_s=section.connect_timeout_s,
        headers={**preset.headers, **section.headers},
        name=choice.provider,
    )
    assert settings.recall.model, "checked with the settings"
    return EndpointEmbedder(endpoint, settings.recall.model, settings.recall.dimensions)
