"""The ways to models that are set up: the one in use, and those behind it.

Knows: which model at which provider, how it is reached, which stand behind a chosen one. Does not know: how a
failure is answered (`models.routing`), any vendor, where the ways were configured.
"""

from collections.abc import Awaitable, Callable

from msgspec import Struct, structs

from hermes_acp.core.messages import Effort
from hermes_acp.core.ports.model_ports import ModelInfo, Provider
from hermes_acp.models.model_catalog import effort_for
from hermes_acp.models.routing import Cooldowns, FallbackPlan, FallbackRoute, RetryPolicy


class Route(Struct, frozen=True):
    """One model at one provider, named as in the settings.

    `keys` are the names of the variables that hold its keys, in the order they are used; `""` is none. `connect` opens
    the way with one of them, or gives it if it is open. Raises ConfigError. `efforts` are the levels of reasoning the
    model can be asked for, least first.
    """

    provider: str
    model: str
    facts: ModelInfo
    connect: Callable[[str], Awaitable[Provider]]
    keys: tuple[str, ...] = ("",)
    efforts: tuple[Effort, ...] = ()

    @property
    def name(self) -> str:
        """Provider and model in one word."""
        return f"{self.provider}/{self.model}"

    def effort(self, wanted: Effort | None) -> Effort | None:
        """Give the level to ask for: the wanted one, or what comes nearest; None leaves it to the vendor."""
        return effort_for(wanted, self.efforts)

    def effort_notice(self, wanted: Effort | None) -> str:
        """Say what becomes of a wished effort that the model lacks; empty where there is nothing to say."""
        nearest = self.effort(wanted)
        if nearest == wanted:
            return ""
        if nearest is None:
            return f"{self.model} has no levels of reasoning effort; {wanted} changes nothing."
        return f"{self.model} has no reasoning effort {wanted}; {nearest} is used."


class Routing(Struct, frozen=True):
    """All routes, the one in use first and then its fallbacks, and how trouble on them is met.

    `route_to` makes the route to any model of a provider that is set up. `cooldowns` are shared by all turns of the
    process.
    """

    routes: tuple[Route, ...]
    cooldowns: Cooldowns
    route_to: Callable[[str, str], Route]
    random_fraction: Callable[[], float]
    retry_policy: RetryPolicy = RetryPolicy()

    def with_preferred(self, provider: str, model: str) -> "Routing":
        """Return the same routing with another route in use; the fallbacks stay behind it.

        An empty provider is that of the route in use, an empty model the provider's own first one. A provider that is
        not set up changes nothing.
        """
        in_use, *fallbacks = self.routes
        name = provider or in_use.provider
        at_provider = [route for route in self.routes if route.provider == name]
        if not at_provider:
            return self
        chosen = next((route for route in at_provider if route.model == model), at_provider[0])
        if model and chosen.model != model:
            chosen = self.route_to(name, model)
        behind = tuple(route for route in fallbacks if route.name != chosen.name)
        return structs.replace(self, routes=(chosen, *behind))

    def fallback_plan(self) -> FallbackPlan:
        """Begin a turn's course."""
        fallback_routes = [
            FallbackRoute(route.name, route.keys, route.facts.window_tokens) for route in self.routes
        ]
        return FallbackPlan(fallback_routes, self.retry_policy, self.cooldowns, self.random_fraction)

    def route(self, name: str) -> Route:
        """Return a route by its name."""
        return next(route for route in self.routes if route.name == name)
