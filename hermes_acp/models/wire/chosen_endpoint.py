"""Choose the endpoint for embeddings or transcriptions: that of a named provider, or of the model in use."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hermes_acp.config.provider_presets import preset_of
from hermes_acp.core.errors import ConfigError
from hermes_acp.models.wire.endpoints import Endpoint

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings

OPENAI_APIS: Final = ("openai_compatible", "openai_responses")


def choice_of(settings: "Settings", variables: Mapping[str, str], provider: str) -> "ModelChoice | None":
    """Return the model choice for a provider, given its name. Blocks. Raises ConfigError or AuthRequired."""
    from hermes_acp.config.model_choice import choose_model, without_choice

    wanted = settings.model_copy(update={"provider": provider, "model": None})
    return choose_model(wanted, without_choice(variables))


def openai_endpoint(settings: "Settings", choice: "ModelChoice", *, purpose: str, hint: str) -> Endpoint:
    """Return a provider's endpoint if it uses OpenAI's format. Raises ConfigError."""
    from hermes_acp.config.sections.provider_settings import ProviderSettings

    preset = preset_of(choice.provider)
    section = settings.providers.get(choice.provider, ProviderSettings.defaults())
    if (section.wire or preset.wire_at(choice.base_url)) not in OPENAI_APIS:
        raise ConfigError(f"{preset.label} has no endpoint for {purpose} that hermes-acp can use.", hint=hint)
    return Endpoint(
        base_url=choice.base_url,
        api_key=choice.api_key,
        key_variable=choice.key_variable,
        connect_s=section.connect_timeout_s,
        headers={**preset.headers, **section.headers},
        name=choice.provider,
    )
