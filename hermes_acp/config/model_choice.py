"""Choose the model and its endpoint from the settings."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from pydantic import Field

from hermes_acp.config.credential_sources import credential_url, find_credential_source
from hermes_acp.config.provider_presets import Preset, preset_of, presets
from hermes_acp.config.settings import ProviderSettings, Settings
from hermes_acp.config.settings_section import ProviderName, Section
from hermes_acp.core.errors import AuthRequired, ConfigError


class Key(Section):
    """An API key and the variable that contains it; the name may be shown, the value never."""

    variable: str
    value: str = Field(repr=False)


class ModelChoice(Section):
    """The chosen model and its endpoint; if `model` is empty, the endpoint is asked for one.

    `more_keys` are tried when the first key is refused, rate-limited or used up; `credential_source` says where
    credentials come from if there is no key.
    """

    provider: ProviderName
    model: str
    base_url: str
    api_key: str = Field(default="", repr=False)
    key_variable: str = ""
    more_keys: tuple[Key, ...] = ()
    credential_source: dict[str, str] = Field(default_factory=dict[str, str])

    @property
    def keys(self) -> tuple[Key, ...]:
        """All keys, in the order in which they are used."""
        return (Key(variable=self.key_variable, value=self.api_key), *self.more_keys)

    def with_key(self, key: Key) -> Self:
        """Return the same choice with only one key."""
        return self.model_copy(update={"api_key": key.value, "key_variable": key.variable, "more_keys": ()})


DEFAULT_BASE_URLS: Mapping[str, str] = MappingProxyType(
    {name: preset.base_url for name, preset in presets().items()}
)


def choose_model(settings: Settings, variables: Mapping[str, str]) -> ModelChoice | None:
    """Choose provider, model and address from the configuration; return None if nothing is configured.

    Raises ConfigError, or AuthRequired if the key of the configured provider is missing.
    """
    provider = _provider_of(settings, variables)
    if provider is None:
        return None
    preset = preset_of(provider)
    section = settings.providers.get(provider, ProviderSettings.defaults())
    keys = _named_keys(section, variables)
    if section.key_variables:
        key_variable, api_key = (keys[0].variable, keys[0].value) if keys else (section.key_variables[0], "")
    else:
        key_variable, api_key = preset.key_variable(variables), preset.key(variables)
    named_url = variables.get(preset.url_variable) or section.base_url or ""
    credential_source = {} if api_key else find_credential_source(preset, section, variables)
    if not (api_key or credential_source or named_url or preset.is_local):
        return _require_key(settings, variables, preset)
    base_url = (
        credential_url(preset, credential_source, named_url, variables)
        if credential_source
        else named_url or preset.own_url(variables)
    )
    if not base_url.startswith(("http://", "https://")):
        raise ConfigError(
            f"{preset.url_variable} is {base_url!r}.", hint="It must start with http:// or https://."
        )
    if not (api_key or credential_source) and base_url == preset.base_url and not preset.is_local:
        return _require_key(settings, variables, preset)
    return ModelChoice(
        provider=provider,
        model=variables.get("HERMES_MODEL") or settings.model or "",
        base_url=base_url.rstrip("/"),
        api_key=api_key,
        key_variable=key_variable,
        more_keys=keys[1:],
        credential_source=credential_source,
    )


def choose_fallbacks(settings: Settings, variables: Mapping[str, str]) -> tuple[ModelChoice, ...]:
    """Choose the fallback models, in order. Raises ConfigError for one that can never work."""
    kept = without_choice(variables)
    choices: list[ModelChoice] = []
    for number, fallback in enumerate(settings.fallbacks):
        model = fallback.model or preset_of(fallback.provider).model
        if not model:
            hint = f"Write {fallback.provider}/ followed by the model's name."
            raise ConfigError(f"`fallbacks.{number}` names {fallback.provider} without a model.", hint=hint)
        wanted = settings.model_copy(update={"provider": fallback.provider, "model": model})
        try:
            choice = choose_model(wanted, kept)
        except AuthRequired as error:
            raise ConfigError(f"`fallbacks.{number}`: {error.message}", hint=error.hint) from None
        if choice is not None:
            choices.append(choice)
    return tuple(choices)


def without_choice(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables except those that choose a model, for a caller that wants a different one."""
    return {
        name: value for name, value in variables.items() if name not in ("HERMES_PROVIDER", "HERMES_MODEL")
    }


def _named_keys(section: ProviderSettings, variables: Mapping[str, str]) -> tuple[Key, ...]:
    """Return the keys that a section names and that are set."""
    held = ((name, variables.get(name, "").strip()) for name in section.key_variables)
    return tuple(Key(variable=name, value=value) for name, value in held if value)


def _require_key(settings: Settings, variables: Mapping[str, str], preset: Preset) -> None:
    """Raise AuthRequired if the key of the configured provider is missing; a guessed provider is not an error."""
    if settings.provider or variables.get("HERMES_PROVIDER"):
        names = " and ".join(preset.key_parts[:2])
        others = f", or {names}, or AWS_PROFILE" if names else ""
        raise AuthRequired(
            f"{preset.label} needs an API key.",
            hint=f"Set {preset.key_variables[0]}{others}, or run `hermes-acp setup`.",
        )


def _provider_of(settings: Settings, variables: Mapping[str, str]) -> str | None:
    """Return the configured provider, or else one for which an address or a key is set."""
    named = variables.get("HERMES_PROVIDER")
    if named:
        if named in presets() or named in settings.providers:
            return named
        raise ConfigError(
            f"HERMES_PROVIDER is {named!r}.",
            hint=f"It must be one of: {', '.join((*presets(), *_own_names(settings)))}.",
        )
    if settings.provider:
        return settings.provider
    candidates = (*presets(), *_own_names(settings))
    model = variables.get("HERMES_MODEL") or settings.model
    if model is not None and not model.startswith("claude"):
        candidates = ("openai_compatible", *(name for name in candidates if name != "openai_compatible"))
    return next((name for name in candidates if _is_set_up(name, settings, variables)), None)


def _own_names(settings: Settings) -> tuple[str, ...]:
    """Return the names of the user's own endpoints."""
    return tuple(name for name in settings.providers if name not in presets())


def _is_set_up(name: str, settings: Settings, variables: Mapping[str, str]) -> bool:
    preset = preset_of(name)
    section = settings.providers.get(name, ProviderSettings.defaults())
    if section.base_url or _named_keys(section, variables):
        return True
    # Variables set for other programs, such as AWS credentials, do not select a provider on their own.
    keys = preset.key_variables if preset.found_by_key else ()
    urls = () if preset.key_parts else (preset.url_variable,)
    return any(variables.get(variable) for variable in (*keys, *urls))
