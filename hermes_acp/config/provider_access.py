"""The current route to a model: the configuration, as changed by a client for this process only.

What a client sets is never stored, and the user's own keys are never sent to an address that a client set.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from hermes_acp.config.environment import BASE_URL_VARIABLES, KEY_VARIABLES, Environment
from hermes_acp.core.errors import BadRequest

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings

NAMES: Final = ("openai_compatible", "anthropic")
"""The providers that a client may configure; each stands for a wire format that many endpoints use."""


class ProviderEndpoint(Struct, frozen=True):
    """The address of a provider and the headers to send, which may contain secrets."""

    base_url: str
    headers: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"ProviderRoute(headers={[name for name, _ in self.headers]})"


class ProviderStatus(Struct, frozen=True):
    """The state of a provider: its address, a description of its credentials, and whether it is in use.

    If the address is empty, the provider cannot be used; if the account is empty, it needs none.
    """

    provider: str
    base_url: str = ""
    account: str = ""
    is_used: bool = False


class ProviderAccess:
    """Reads settings and keys anew for each request, and applies a client's changes."""

    def __init__(self, environment: Environment, overrides: Mapping[str, Any]) -> None:
        self.environment = environment
        self.overrides = overrides
        """Settings from command-line flags, which take precedence."""
        self._routes: dict[str, ProviderEndpoint] = {}
        self._disabled: set[str] = set()
        self._preferred: str | None = None

    @property
    def is_changed(self) -> bool:
        """Whether a client has changed anything."""
        return bool(self._routes or self._disabled)

    def may_detect(self) -> bool:
        """Return whether a model server detected on this machine may be used."""
        return "openai_compatible" not in self._disabled

    def route(self, name: str, route: ProviderEndpoint) -> None:
        """Use this endpoint for a provider from now on, and prefer that provider. Raises BadRequest."""
        provider = _known(name)
        _check(route)
        self._routes[provider] = route
        self._disabled.discard(provider)
        self._preferred = provider

    def disable(self, name: str) -> None:
        """Stop using a provider. Raises BadRequest."""
        provider = _known(name)
        self._disabled.add(provider)
        self._routes.pop(provider, None)
        if self._preferred == provider:
            self._preferred = next(iter(self._routes), None)

    def read(self) -> "tuple[Settings, ModelChoice | None]":
        """Read the configuration and choose a model; blocks on disk access. Raises ConfigError."""
        settings, variables = self._load()
        if not self.is_changed:
            return settings, choose(settings, variables)
        configured = choose(settings, variables)
        settings, variables = self._change(settings, variables)
        choice = self._preferred_choice(settings, variables) or choose(settings, variables)
        if choice and configured and choice.provider != configured.provider:
            choice = choice.model_copy(update={"model": ""})
        return settings, choice

    def fallbacks(self) -> "tuple[ModelChoice, ...]":
        """Choose the fallbacks, except for providers that a client has changed. Raises ConfigError."""
        from hermes_acp.config.model_choice import choose_fallbacks

        settings, variables = self._load()
        usable = (
            each for each in settings.fallbacks if each.provider not in (*self._disabled, *self._routes)
        )
        return choose_fallbacks(settings.model_copy(update={"fallbacks": tuple(usable)}), variables)

    def provider_statuses(self) -> tuple[ProviderStatus, ...]:
        """Return the state of each provider; blocks on disk access. Raises ConfigError."""
        settings, choice = self.read()
        _, variables = self._change(settings, self._load()[1])
        names = NAMES if choice is None or choice.provider in NAMES else (choice.provider, *NAMES)
        return tuple(self._way(name, settings, variables, choice) for name in names)

    def _load(self) -> "tuple[Settings, Mapping[str, str]]":
        from hermes_acp.config.settings import load_settings, load_variables

        return load_settings(self.environment, self.overrides), load_variables(self.environment)

    def _change(
        self, settings: "Settings", variables: Mapping[str, str]
    ) -> "tuple[Settings, Mapping[str, str]]":
        """Remove the configuration of the providers that a client has changed, then apply the client's routes."""
        from hermes_acp.config.settings import ProviderSettings

        kept = dict(variables)
        sections = dict(settings.providers)
        for name in (*self._disabled, *self._routes):
            section = sections.pop(name, ProviderSettings.defaults())
            for variable in section.key_variables or (KEY_VARIABLES[name],):
                kept.pop(variable, None)
            kept.pop(BASE_URL_VARIABLES[name], None)
            if kept.get("HERMES_PROVIDER") == name:
                del kept["HERMES_PROVIDER"]
            if route := self._routes.get(name):
                change = {
                    "base_url": route.base_url,
                    "headers": dict(route.headers),
                    "api_key_variable": None,
                    "api_key_variables": (),
                }
                sections[name] = section.model_copy(update=change)
        provider = None if settings.provider in self._disabled else settings.provider
        return settings.model_copy(update={"providers": sections, "provider": provider}), kept

    def _preferred_choice(self, settings: "Settings", variables: Mapping[str, str]) -> "ModelChoice | None":
        from hermes_acp.config.model_choice import ModelChoice

        if self._preferred is None:
            return None
        model = variables.get("HERMES_MODEL") or settings.model or ""
        base_url = self._routes[self._preferred].base_url.rstrip("/")
        return ModelChoice(provider=self._preferred, model=model, base_url=base_url)

    def _way(
        self,
        name: str,
        settings: "Settings",
        variables: Mapping[str, str],
        choice: "ModelChoice | None",
    ) -> ProviderStatus:
        from hermes_acp.config.model_choice import DEFAULT_BASE_URLS
        from hermes_acp.config.provider_presets import preset_of

        section, preset = settings.providers.get(name), preset_of(name)
        named = section.key_variables if section else ()
        held = (variable for variable in named if variables.get(variable, "").strip())
        key_variable = next(held, *named[:1]) if named else preset.key_variable(variables)
        account = f"Key in {key_variable}" if variables.get(key_variable, "").strip() else ""
        if (route := self._routes.get(name)) and route.headers:
            account = "Set by the editor"
        if choice and choice.provider == name:
            return ProviderStatus(name, choice.base_url, account, is_used=True)
        address = variables.get(preset.url_variable) or (section and section.base_url) or ""
        return ProviderStatus(name, address or (DEFAULT_BASE_URLS[name] if account else ""), account)


def choose(settings: "Settings", variables: Mapping[str, str]) -> "ModelChoice | None":
    """Choose a model from the configuration. Raises ConfigError."""
    from hermes_acp.config.model_choice import choose_model

    return choose_model(settings, variables)


def _known(name: str) -> str:
    if name not in NAMES:
        raise BadRequest(f"There is no provider {name[:80]!r}.", hint=f"There are: {', '.join(NAMES)}.")
    return name


def _check(route: ProviderEndpoint) -> None:
    """Reject a route that cannot be used for requests. Errors never quote a value, which may be a secret."""
    url = route.base_url
    if (
        not url.startswith(("http://", "https://"))
        or not url.isascii()
        or not url.isprintable()
        or " " in url
    ):
        raise BadRequest("The address of the provider does not start with http:// or https://.")
    for name, value in route.headers:
        if not name or not f"{name}{value}".isascii() or not f"{name}{value}".isprintable():
            raise BadRequest("A header contains characters that are not allowed in HTTP headers.")
