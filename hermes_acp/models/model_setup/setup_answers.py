"""The answers given in setup: the current values, the new ones, and how they are stored.

The key goes to `.env`, everything else to `config.yaml`; only their owner can read these files.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from msgspec import Struct, structs

from hermes_acp.config.environment import Environment
from hermes_acp.config.provider_presets import Preset, preset_of, presets
from hermes_acp.config.settings import ProviderSettings, Settings, load_settings, load_variables
from hermes_acp.config.settings_text import read_text
from hermes_acp.config.yaml_text import with_value
from hermes_acp.core.errors import BadRequest, ConfigError, HermesError
from hermes_acp.storage.private_files import write_private_text
from hermes_acp.telemetry.structured_log import note_change

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.core.ports.model_ports import ListedModel

CUSTOM: Final = ("openai_compatible", "openai_responses")
"""Providers that stand for any endpoint, so their address must be given."""
NO_ENDPOINT: Final = "This provider needs an address or a key."
_URL: Final = re.compile(r"https?://[^\s]+")


class SetupAnswers(Struct, frozen=True):
    """The answers; an empty `base_url` means the provider's own, and an empty `key` none, or to keep the current one.

    `key_variable` is the variable for the key; it is empty if the provider takes none.
    """

    provider: str
    base_url: str = ""
    key: str = ""
    key_variable: str = ""
    model: str = ""

    @property
    def preset(self) -> Preset:
        """The provider's preset."""
        return preset_of(self.provider)

    @property
    def section(self) -> Mapping[str, str]:
        """The provider's settings that differ from the defaults."""
        is_usual = self.key_variable in ("", *self.preset.key_variables)
        return {
            **({"base_url": self.base_url} if self.base_url else {}),
            **({} if is_usual else {"api_key_variable": self.key_variable}),
        }


class PresentValues(Struct, frozen=True):
    """The current settings and variables."""

    environment: Environment
    settings: Settings
    variables: Mapping[str, str]

    @property
    def provider(self) -> str:
        """The current provider, or an empty string."""
        from hermes_acp.config.model_choice import choose_model

        try:
            choice = choose_model(self.settings, self.variables)
        except HermesError:
            named = self.variables.get("HERMES_PROVIDER") or self.settings.provider or ""
            return named if named in presets() or named in self.settings.providers else ""
        if choice is None:
            return ""
        # An OpenAI key on its own selects OpenAI's endpoint, under the provider name that is used for any endpoint.
        is_openai = choice.provider in CUSTOM and choice.base_url == presets()["openai"].base_url
        return "openai" if is_openai and not self.settings.provider else choice.provider

    @property
    def model(self) -> str:
        """The current model, or an empty string."""
        return self.variables.get("HERMES_MODEL") or self.settings.model or ""

    def base_url(self, provider: str) -> str:
        """Return the address to suggest for a provider, or an empty string if the user must specify one."""
        preset = preset_of(provider)
        section = self.settings.providers.get(provider, ProviderSettings.defaults())
        held = self.variables.get(preset.url_variable) or section.base_url
        is_unknown = provider in CUSTOM and provider != self.provider
        return held or ("" if is_unknown else own_url(preset, self.variables))

    def key_variable(self, provider: str) -> str:
        """Return the variable that contains a provider's key, or else the one to set; empty if it takes none."""
        section = self.settings.providers.get(provider, ProviderSettings.defaults())
        held = (name for name in section.key_variables if self.variables.get(name, "").strip())
        return next(held, "") or preset_of(provider).key_variable(self.variables)

    def key(self, provider: str) -> str:
        """Return the current key of a provider, or an empty string."""
        return self.variables.get(self.key_variable(provider), "").strip()

    def choice(self, answers: SetupAnswers) -> "tuple[Settings, ModelChoice]":
        """Return the settings and the model that would result from the answers. Raises ConfigError or AuthRequired."""
        from hermes_acp.config.model_choice import choose_model, without_choice

        sections = dict(self.settings.providers)
        section = sections.get(answers.provider, ProviderSettings.defaults())
        change = {"base_url": None, "api_key_variable": None, "api_key_variables": (), **answers.section}
        sections[answers.provider] = section.model_copy(update=change)
        settings = self.settings.model_copy(
            update={"provider": answers.provider, "model": answers.model or None, "providers": sections}
        )
        variables = without_choice(self.variables)
        variables.pop(answers.preset.url_variable, None)
        if answers.key:
            variables[answers.key_variable] = answers.key
        choice = choose_model(settings, variables)
        if choice is None:
            raise ConfigError(NO_ENDPOINT)
        return settings, choice


def present_values(environment: Environment) -> PresentValues:
    """Read the current values. Raises ConfigError."""
    return PresentValues(environment, load_settings(environment), load_variables(environment))


def readable_values(environment: Environment) -> PresentValues:
    """Read the current values, treating unreadable ones as not set."""
    try:
        return present_values(environment)
    except ConfigError:
        return PresentValues(environment, Settings.defaults(), environment.variables)


def answers_of(present: PresentValues, provider: str, base_url: str, key: str, model: str) -> SetupAnswers:
    """Convert a form to answers; empty fields keep their current values. Raises BadRequest."""
    if provider not in presets():
        raise BadRequest(
            f"There is no provider {provider[:80]!r}.", hint=f"There are: {', '.join(presets())}."
        )
    section = present.settings.providers.get(provider)
    url = checked_url(base_url.strip()) if base_url.strip() else (section and section.base_url) or ""
    if provider not in CUSTOM and url == own_url(presets()[provider], present.variables).rstrip("/"):
        url = ""
    if not url and not present.base_url(provider) and not presets()[provider].lender:
        raise BadRequest(f"The provider {provider} needs an address.")
    key_variable = present.key_variable(provider)
    if key_variable and url and url != present.base_url(provider).rstrip("/"):
        # An existing key is not sent to an address that was entered in a form.
        key_variable = _separate_variable(provider)
    answers = SetupAnswers(provider, url, "", key_variable, model.strip())
    return with_own_key(present, answers, key.strip()) if key.strip() else answers


def own_url(preset: Preset, variables: Mapping[str, str]) -> str:
    """Return a provider's default address, or an empty string if it depends on something that is not set."""
    try:
        url = preset.own_url(variables)
    except ConfigError:
        return ""
    return "" if "{" in url else url


def checked_url(text: str) -> str:
    """Validate an address and remove its trailing slash. Raises BadRequest."""
    try:
        is_url = bool(_URL.fullmatch(text)) and text.isascii() and bool(urlsplit(text).hostname)
    except ValueError:
        is_url = False
    if not is_url:
        raise BadRequest(_not_a_url(text))
    return text.rstrip("/")


def _separate_variable(provider: str) -> str:
    """Return the variable for a key that is stored in addition to the usual one."""
    return f"HERMES_{provider.upper()}_API_KEY"


def _not_a_url(text: str) -> str:
    """Return the reason why an address is refused, without any secrets that it may contain."""
    shown = f"{text[:60]!r} is not a base URL: it" if text and "@" not in text else "The base URL"
    return f"{shown} must be a URL starting with http:// or https://."


def is_only_in_environment(present: PresentValues, answers: SetupAnswers) -> bool:
    """Return whether the key is only in this process's environment, which editors may not share."""
    variable = answers.key_variable
    if answers.key or not present.environment.variables.get(variable, "").strip():
        return False
    elsewhere = structs.replace(present.environment, variables={})
    return not load_variables(elsewhere).get(variable, "").strip()


def with_own_key(present: PresentValues, answers: SetupAnswers, key: str) -> SetupAnswers:
    """Return the answers with another key, in a variable that is not set in the environment."""
    usual = present.key_variable(answers.provider)
    if present.environment.variables.get(usual, "").strip() not in ("", key):
        usual = _separate_variable(answers.provider)
    return structs.replace(answers, key=key, key_variable=usual)


def usual_model(present: PresentValues, answers: SetupAnswers, listed: "Sequence[ListedModel]") -> str:
    """Return the model to suggest: the one in use, or else the provider's default, or else the first in the list."""
    names = [model.name for model in listed]
    wanted = [
        answers.model,
        present.model if answers.provider == present.provider else "",
        "" if answers.provider in CUSTOM else answers.preset.model,
    ]
    known = [name for name in wanted if name and (name in names or not names)]
    return next(iter(known), next(iter(names), ""))


def write_answers(environment: Environment, answers: SetupAnswers) -> None:
    """Store the answers, preserving comments, order and layout of everything else. Raises StorageError."""
    text = read_text(environment.config_file)
    text = with_value(text, ("provider",), answers.provider)
    text = with_value(text, ("model",), answers.model or None)
    for name in ("base_url", "api_key_variable"):
        text = with_value(text, ("providers", answers.provider, name), answers.section.get(name))
    write_private_text(environment.config_file, text)
    note_change(environment.home, "setting provider", "user")
    if answers.key:
        _write_secret(environment.secrets_file, answers.key_variable, answers.key)
        note_change(environment.home, f"key {answers.key_variable}", "user")


def overriding_variables(environment: Environment, answers: SetupAnswers) -> list[str]:
    """Return the environment variables that override the stored values with different ones."""
    written = {
        "HERMES_PROVIDER": answers.provider,
        "HERMES_MODEL": answers.model,
        answers.preset.url_variable: answers.base_url or answers.preset.base_url,
        **({answers.key_variable: answers.key} if answers.key else {}),
    }
    held = environment.variables
    return [name for name, value in written.items() if held.get(name) and held[name].rstrip("/") != value]


def _write_secret(path: Path, name: str, value: str) -> None:
    lines = read_text(path).splitlines()
    kept = [line for line in lines if line.partition("=")[0].removeprefix("export ").strip() != name]
    quoted = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    write_private_text(path, "\n".join([*kept, f"{name}={quoted}"]) + "\n")
