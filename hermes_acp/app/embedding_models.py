"""From the settings to the model that tells what texts mean.

Knows: which providers have an endpoint for that, and how it is reached. Does not know: what for. Blocks.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hermes_acp.config.presets import presets
from hermes_acp.core.errors import BadConfig

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.meaning import Embedder

WIRES: Final = ("openai_compatible", "openai_responses")


def embedder_of(
    settings: "Settings", variables: Mapping[str, str], choice: "ModelChoice | None"
) -> "Embedder | None":
    """Give the model, None where nobody is to be asked; `choice` is the way to the model that answers.

    Raises BadConfig, AuthRequired.
    """
    section = settings.recall
    if section.embeddings == "off":
        return None
    from hermes_acp.storage.vectors import require_vectors

    require_vectors()
    if section.embeddings == "local":
        from hermes_acp.models.local_embeddings import local_embedder

        return local_embedder()
    if section.provider:
        choice = _named(settings, variables, section.provider)
    if choice is None:
        raise BadConfig(
            "`recall.embeddings` is provider, and none is set up.", hint="Name one: recall.provider."
        )
    return _endpoint(settings, choice)


def _named(settings: "Settings", variables: Mapping[str, str], provider: str) -> "ModelChoice | None":
    from hermes_acp.config.model_choice import choose_model, without_choice

    wanted = settings.model_copy(update={"provider": provider, "model": None})
    return choose_model(wanted, without_choice(variables))


def _endpoint(settings: "Settings", choice: "ModelChoice") -> "Embedder":
    from hermes_acp.config.settings import ProviderSettings
    from hermes_acp.models.embeddings import EndpointEmbedder
    from hermes_acp.models.endpoints import Endpoint

    preset = presets()[choice.provider]
    section = settings.providers.get(choice.provider, ProviderSettings.unwritten())
    if (section.wire or preset.wire_at(choice.base_url)) not in WIRES:
        raise BadConfig(
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
