"""The routes to the configured models: the preferred one and its fallbacks."""

from collections.abc import Awaitable, Callable

from msgspec import Struct, field, structs

from hermes_acp.core.messages import Effort
from hermes_acp.core.ports.model_ports import ModelInfo, Provider
from hermes_acp.models.model_catalog import effort_for
from hermes_acp.models.routing.fallback_plan import Cooldowns, FallbackPlan, FallbackRoute, RetryPolicy
from hermes_acp.models.routing.stream_load import StreamLoad


class Route(Struct, frozen=True):
    """One model at one provider, named as in the settings.

    `keys` are the names of the variables that contain its keys, in order of use; `""` means no key. `connect` returns
    the connection for one of them, opening it first if necessary, and raises ConfigError. `efforts` are the reasoning
    levels that the model supports, lowest first. `stated_window` returns the context window that the endpoint states,
    once it is known. With `balances_keys`, a turn uses the key that the fewest turns have used.
    """

    provider: str
    model: str
    facts: ModelInfo
    connect: Callable[[str], Awaitable[Provider]]
    keys: tuple[str, ...] = ("",)
    efforts: tuple[Effort, ...] = ()
    stated_window: Callable[[], int | None] = lambda: None
    balances_keys: bool = False

    @property
    def window_tokens(self) -> int:
        """Return the context window in tokens, as stated by the endpoint or else as known from the catalogue."""
        return self.stated_window() or self.facts.window_tokens

    @property
    def name(self) -> str:
        """Return the provider and model as one name."""
        return f"{self.provider}/{self.model}"

    def effort(self, wanted: Effort | None) -> Effort | None:
        """Return the level to request: the wanted one or the nearest; None leaves it to the vendor."""
        return effort_for(wanted, self.efforts)

    def effort_notice(self, wanted: Effort | None) -> str:
        """Return a notice if the model lacks the wanted effort level, else an empty string."""
        nearest = self.effort(wanted)
        if nearest == wanted:
            return ""
        if nearest is None:
            return f"{self.model} has no levels of reasoning effort; {wanted} changes nothing."
        return f"{self.model} has no reasoning effort {wanted}; {nearest} is used."


class Routing(Struct, frozen=True):
    """All routes, the preferred one first and then its fallbacks, and the retry policy.

    `route_to` creates a route to any model of a configured provider. All turns of the process share `cooldowns` and
    `load`.
    """

    routes: tuple[Route, ...]
    cooldowns: Cooldowns
    route_to: Callable[[str, str], Route]
    random_fraction: Callable[[], float]
    retry_policy: RetryPolicy = RetryPolicy()
    load: StreamLoad = field(default_factory=StreamLoad)

    def with_preferred(self, provider: str, model: str) -> "Routing":
        """Return the same routing with a different preferred route, followed by the same fallbacks.

        An empty provider means that of the current route; an empty model means the provider's first one. A provider
        that is not configured changes nothing.
        """
        preferred, *fallbacks = self.routes
        name = provider or preferred.provider
        at_provider = [route for route in self.routes if route.provider == name]
        if not at_provider:
            return self
        chosen = next((route for route in at_provider if route.model == model), at_provider[0])
        if model and chosen.model != model:
            chosen = self.route_to(name, model)
        behind = tuple(route for route in fallbacks if route.name != chosen.name)
        return structs.replace(self, routes=(chosen, *behind))

    def fallback_plan(self) -> FallbackPlan:
        """Return a plan for one turn."""
        fallback_routes = [
            FallbackRoute(route.name, route.keys, route.window_tokens, route.balances_keys)
            for route in self.routes
        ]
        return FallbackPlan(fallback_routes, self.retry_policy, self.cooldowns, self.random_fraction)

    def route(self, name: str) -> Route:
        """Return a route by its name."""
        return next(route for route in self.routes if route.name == name)
