"""Connections to the configured models, and the routes by which turns reach them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from msgspec import structs

from hermes_acp.core.available_options import AvailableModel
from hermes_acp.core.errors import ConfigError, ModelError
from hermes_acp.core.ports.model_ports import ListedModel, Provider
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.ids import random_fraction

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import Key, ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.models.routing.routes import Route, Routing
    from hermes_acp.models.wire.endpoints import Connection

    Connect = Callable[[Settings, ModelChoice], Connection]


class ModelConnections:
    """The connections of one loaded configuration: that of the current model first, then those of its fallbacks.

    One connection per provider and key is opened on first use and stays open until all are closed.
    """

    def __init__(
        self,
        settings: "Settings",
        choices: "tuple[ModelChoice, ...]",
        clock: Clock,
        connect: "Connect | None",
    ) -> None:
        self.choices = choices
        self._settings = settings
        self._clock = clock
        self._connect = connect or connect_provider
        self._opening = anyio.Lock()
        self._open: dict[tuple[str, str], Connection] = {}
        self._listed: tuple[str, ...] = ()
        self._windows: dict[str, int] = {}

    async def prepare(self) -> str:
        """Open the current connection, and ask it for a model if none is named. Raises ConfigError or ModelError.

        If its endpoint cannot even list its models and there is a fallback, it is left out; returns the sentence that
        says so.
        """
        choice = self.choices[0]
        connection = await self._connection(choice, choice.keys[0])
        if choice.model:
            return ""
        try:
            model = await self._first_model(choice, connection)
        except ModelError as error:
            if not self.choices[1:]:
                raise
            self.choices = self.choices[1:]
            lacking = f"{choice.base_url} could not say which models it has"
            return f"{error.message} {lacking}; using {self.choices[0].model}."
        self.choices = (choice.model_copy(update={"model": model}), *self.choices[1:])
        return ""

    def routing(self) -> "Routing":
        """Build the routes from the choices without trying any of them."""
        from hermes_acp.models.routing.fallback_plan import Cooldowns, RetryPolicy
        from hermes_acp.models.routing.routes import Routing

        retry = self._settings.retry
        routes = {
            route.name: route
            for route in (self._route_to(choice.provider, choice.model) for choice in self.choices)
        }
        return Routing(
            routes=tuple(routes.values()),
            cooldowns=Cooldowns(self._clock.monotonic),
            route_to=self._route_to,
            random_fraction=random_fraction,
            retry_policy=RetryPolicy(
                attempts=retry.attempts,
                first_wait_s=retry.first_wait_s,
                longest_wait_s=retry.longest_wait_s,
                max_retry_after_s=retry.longest_retry_after_s,
                jitter=retry.jitter,
                rest_s=retry.rest_s,
            ),
        )

    def offers(self) -> tuple[AvailableModel, ...]:
        """List the models to choose from: the configured one, the known models at its endpoint, and the fallbacks."""
        return available_models(self.choices, self._listed, self._settings)

    async def list_models(self) -> tuple[str, ...]:
        """Ask the current endpoint for its models and their context windows. Raises ModelError."""
        choice = self.choices[0]
        connection = await self._connection(choice, choice.keys[0])
        self._take_listing(await connection.models())
        if own_window := await connection.own_window(choice.model):
            self._windows[choice.model] = own_window
        return self._listed

    async def _first_model(self, choice: "ModelChoice", connection: "Connection") -> str:
        """Return the first model that the endpoint lists, for use when none is named and there is no default."""
        listed = await connection.models()
        if not listed:
            raise ConfigError(f"{choice.base_url} lists no models.", hint="Name one: set HERMES_MODEL.")
        self._take_listing(listed)
        return listed[0].name

    def _take_listing(self, listed: "tuple[ListedModel, ...]") -> None:
        self._listed = tuple(model.name for model in listed)
        self._windows = {model.name: model.window_tokens for model in listed if model.window_tokens}

    def inherit(self, former: "ModelConnections") -> None:
        """Reuse the models listed by the former connections if the endpoint is still the same."""
        ours, theirs = self.choices[0], former.choices[0]
        if (ours.provider, ours.base_url) == (theirs.provider, theirs.base_url):
            self._listed = former._listed
            self._windows = former._windows

    async def aclose(self) -> None:
        """Close all connections."""
        for connection in self._open.values():
            await connection.aclose()

    def _route_to(self, provider: str, model: str) -> "Route":
        from hermes_acp.models.model_catalog import efforts_of, model_info_of
        from hermes_acp.models.routing.routes import Route

        settings = self._settings
        choice = next(choice for choice in self.choices if choice.provider == provider)
        facts = model_info_of(model, provider, settings.models)
        first = self.choices[0]
        is_first = (provider, model) == (first.provider, first.model)
        if settings.window_tokens and is_first:
            facts = structs.replace(facts, window_tokens=settings.window_tokens)
        own = settings.models.get(model)
        is_set = bool((own and own.window_tokens) or (settings.window_tokens and is_first))

        def stated_window() -> int | None:
            is_asked = provider == self.choices[0].provider and not is_set
            return self._windows.get(model) if is_asked else None

        return Route(
            provider=provider,
            model=model,
            facts=facts,
            connect=self._connector(choice),
            keys=tuple(key.variable for key in choice.keys),
            efforts=efforts_of(model, provider, settings.models),
            stated_window=stated_window,
            balances_keys=provider in settings.providers
            and settings.providers[provider].keys_by == "least_used",
        )

    def _connector(self, choice: "ModelChoice") -> Callable[[str], Awaitable[Provider]]:
        async def connect(variable: str) -> Provider:
            return await self._connection(
                choice, next(key for key in choice.keys if key.variable == variable)
            )

        return connect

    async def _connection(self, choice: "ModelChoice", key: "Key") -> "Connection":
        name = (choice.provider, key.variable)
        async with self._opening:
            if name not in self._open:
                self._open[name] = await anyio.to_thread.run_sync(
                    self._connect, self._settings, choice.with_key(key)
                )
            return self._open[name]


def available_models(
    choices: "Sequence[ModelChoice]", listed: Sequence[str], settings: "Settings"
) -> tuple[AvailableModel, ...]:
    """Return the models of the choices, followed by those that the first choice's endpoint lists."""
    from hermes_acp.models.model_catalog import efforts_of

    first, *fallbacks = choices
    names = [(first.provider, model) for model in (first.model, *listed)]
    names += [(choice.provider, choice.model) for choice in fallbacks]
    return tuple(
        AvailableModel(provider, model, efforts_of(model, provider, settings.models))
        for provider, model in dict.fromkeys(names)
    )


def with_usual_model(choice: "ModelChoice") -> "ModelChoice":
    """Fill in the vendor's default model if none is named and the vendor's own endpoint is used."""
    from hermes_acp.config.model_choice import DEFAULT_BASE_URLS
    from hermes_acp.models.model_catalog import default_model

    is_own = choice.base_url == DEFAULT_BASE_URLS.get(choice.provider)
    usual = default_model(choice.provider) if is_own and not choice.model else None
    return choice.model_copy(update={"model": usual}) if usual else choice


def connect_provider(settings: "Settings", choice: "ModelChoice") -> "Connection":
    """Bind the plugin for a provider's format to its endpoint; call it in a worker thread. Raises ConfigError."""
    from hermes_acp.config.settings import ProviderSettings
    from hermes_acp.models.connection_factory import open_connection

    return open_connection(choice, settings.providers.get(choice.provider, ProviderSettings.defaults()))
