"""Decide what follows a failed model call: a wait, another key, another model, or giving up.

The clock and random numbers are passed in, so every decision is reproducible. A model or key that failed cools down, so
the next turn starts with one that works. Cooldowns change the order of the routes but never rule out the last one. A
route whose cooldown has ended gets one try; if that fails too, it cools down twice as long.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.errors import (
    ContextWindowExceeded,
    ModelAuthFailed,
    ModelError,
    ModelRefused,
    ModelTimeout,
    QuotaExceeded,
    RateLimited,
)

FailureKind = Literal["auth", "quota", "rate_limit", "silence", "down", "context_full", "refused", "final"]

MAX_SILENT_TRIES: Final = 2
"""Few, because a silent call has already cost minutes."""
MAX_TRIES_WITH_FALLBACK: Final = 2
"""Few, because with a fallback, the user need not watch the first model fail again and again."""
KEY_COOLDOWN_S: Final = 600.0
MAX_COOLDOWN_S: Final = 900.0


class RetryPolicy(Struct, frozen=True):
    """How often to try a route, and how long to wait between tries, in seconds.

    `jitter` is the random share of a wait. `max_retry_after_s` limits the wait that an endpoint may request if there is
    no other route; if there is one, `longest_wait_s` is the limit. `rest_s` is a route's first cooldown. After
    `quiet_s` without any output, the user is told that the model is silent.
    """

    attempts: int = 4
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    max_retry_after_s: float = 300.0
    jitter: float = 0.25
    rest_s: float = 60.0
    quiet_s: float = 20.0

    def wait_s(self, tries: int, retry_after_s: float | None, random_fraction: float) -> float:
        """Return the wait after `tries` tries: doubled each time up to a limit, but at least what the endpoint asks.

        `random_fraction` is in [0, 1).
        """
        if retry_after_s is not None:
            return retry_after_s * (1 + self.jitter * random_fraction)
        return min(self.first_wait_s * 2.0 ** (tries - 1), self.longest_wait_s) * (
            1 - self.jitter * random_fraction
        )


class RouteKey(Struct, frozen=True):
    """A route's name and the name of the variable that contains a key; never the key itself."""

    route: str
    key: str = ""


class RouteFailure(Struct, frozen=True):
    """The kind of failure, and how long the endpoint asked to wait, if it did."""

    kind: FailureKind
    retry_after_s: float | None = None


class Retry(Struct, frozen=True, tag="retry"):
    """Try the same route again after a wait."""

    wait_s: float


class NextKey(Struct, frozen=True, tag="next_key"):
    """Try the same model with another key immediately."""

    key: str


class FallBack(Struct, frozen=True, tag="fall_back"):
    """Try another model immediately."""

    route: str


class GiveUp(Struct, frozen=True, tag="stop"):
    """Raise the error."""


class Shorten(Struct, frozen=True, tag="shorten"):
    """Shorten the conversation and try the same route again; if possible, this precedes any other decision."""


RetryDecision = Retry | NextKey | FallBack | GiveUp


class RetryState(Struct, frozen=True):
    """The state of a step: its tries on the current route so far, and the alternatives.

    `is_on_probation` means that the route failed recently: it gets one try as long as there is another route.
    """

    tries: int
    next_key: str | None = None
    next_route: str | None = None
    is_on_probation: bool = False


def classify_failure(error: ModelError) -> RouteFailure:
    """Classify an error as a kind of failure."""
    match error:
        case RateLimited():
            return RouteFailure("rate_limit", error.retry_after_s)
        case ModelAuthFailed():
            return RouteFailure("auth")
        case QuotaExceeded():
            return RouteFailure("quota")
        case ContextWindowExceeded():
            return RouteFailure("context_full")
        case ModelRefused():
            return RouteFailure("refused")
        case ModelTimeout():
            return RouteFailure("silence")
        case _:
            return RouteFailure("down" if error.retryable else "final")


def decide(
    retry_policy: RetryPolicy, retry_state: RetryState, failure: RouteFailure, random_fraction: float
) -> RetryDecision:
    """Decide how to continue after a failed call."""
    attempts = retry_policy.attempts
    match failure.kind:
        case "context_full":
            return _leave(retry_state)  # trying again does not enlarge the context window
        case "auth" | "quota" if retry_state.next_key is not None:
            return NextKey(retry_state.next_key)
        case "rate_limit" if retry_state.next_key is not None:
            return NextKey(retry_state.next_key)
        case "auth" | "quota" | "refused" | "final":
            return _leave(retry_state)
        case "silence":
            attempts = min(attempts, MAX_SILENT_TRIES)
        case "rate_limit" | "down":
            pass
    if retry_state.next_route is not None:
        attempts = 1 if retry_state.is_on_probation else min(attempts, MAX_TRIES_WITH_FALLBACK)
    wait_s = retry_policy.wait_s(retry_state.tries, failure.retry_after_s, random_fraction)
    longest_s = (
        retry_policy.longest_wait_s if retry_state.next_route is not None else retry_policy.max_retry_after_s
    )
    if retry_state.tries >= attempts or (
        failure.retry_after_s is not None and failure.retry_after_s > longest_s
    ):
        return _leave(retry_state)
    return Retry(wait_s)


def _leave(retry_state: RetryState) -> RetryDecision:
    return GiveUp() if retry_state.next_route is None else FallBack(retry_state.next_route)


class _Cooldown(Struct, frozen=True):
    until_s: float
    failures: int = 1


class Cooldowns:
    """The cooldowns of this process's routes and keys, shared by all turns."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._routes: dict[str, _Cooldown] = {}
        self._keys: dict[RouteKey, _Cooldown] = {}
        self._turns: Counter[str] = Counter()

    def cool_down_route(self, route: str, first_s: float) -> None:
        """Start a route's cooldown: `first_s` seconds at first, doubling with each failure until the route works."""
        before = self._routes.get(route)
        failures = before.failures + 1 if before else 1
        rest_s = min(first_s * 2.0 ** min(failures - 1, 30), MAX_COOLDOWN_S)
        self._routes[route] = _Cooldown(self._monotonic() + rest_s, failures)

    def cool_down_key(self, route_key: RouteKey, rest_s: float) -> None:
        """Start a key's cooldown."""
        self._keys[route_key] = _Cooldown(self._monotonic() + rest_s)

    def count_turn(self, key: str) -> None:
        """Count a turn that uses a key."""
        self._turns[key] += 1

    def turns(self, key: str) -> int:
        """Return how many turns have used a key."""
        return self._turns[key]

    def clear_route_key(self, route_key: RouteKey) -> None:
        """End the cooldowns of a route and a key after a success."""
        self._routes.pop(route_key.route, None)
        self._keys.pop(route_key, None)

    def remaining_s(self, route: str, keys: Sequence[str]) -> float:
        """Return a route's remaining cooldown, caused by its own failures or by waiting for its first usable key."""
        of_keys = min((self.key_cooldown_s(RouteKey(route, key)) for key in keys), default=0.0)
        return max(self._left_s(self._routes.get(route)), of_keys)

    def key_cooldown_s(self, route_key: RouteKey) -> float:
        """Return a key's remaining cooldown."""
        return self._left_s(self._keys.get(route_key))

    def has_failed(self, route: str) -> bool:
        """Return whether a route has failed and has not worked since."""
        return route in self._routes

    def _left_s(self, rest: _Cooldown | None) -> float:
        return max(0.0, rest.until_s - self._monotonic()) if rest else 0.0


class FallbackRoute(Struct, frozen=True):
    """One route in a plan: its name, the variable names of its keys (`""` for no key), and its window.

    If it `is_balanced`, the key used by the fewest turns comes first, else the first one in the list.
    """

    name: str
    keys: tuple[str, ...] = ("",)
    window_tokens: int = 0
    is_balanced: bool = False


class FallbackPlan:
    """The state of one turn with regard to its routes and keys. A turn stays with the route it fell back to."""

    def __init__(
        self,
        fallback_routes: Sequence[FallbackRoute],
        retry_policy: RetryPolicy,
        cooldowns: Cooldowns,
        random_fraction: Callable[[], float],
    ) -> None:
        self._routes = {fallback_route.name: fallback_route for fallback_route in fallback_routes}
        self._retry_policy = retry_policy
        self._cooldowns = cooldowns
        self._random_fraction = random_fraction
        self._refused: set[str] = set()
        self._left: set[str] = set()
        self._used_keys: set[str] = set()
        self.tries = 1
        self.is_new = True
        first = min(self._routes, key=self._cooldown_left_s)
        self.route_key = RouteKey(first, self._key_of(first))
        cooldowns.count_turn(self.route_key.key)

    @property
    def skipped_route(self) -> str | None:
        """The preferred route if the plan started with a different one because that one is cooling down, else None."""
        first = next(iter(self._routes))
        return first if self.is_new and self.route_key.route != first else None

    @property
    def has_another_route(self) -> bool:
        """Return whether there is a route that has not been abandoned in this step."""
        return self._next_route() is not None

    @property
    def attempts(self) -> int:
        """The maximum number of tries per route."""
        return self._retry_policy.attempts

    def begin_step(self) -> None:
        """Allow all routes again except those that refused this turn's content, and stay on the current one."""
        self._left = set(self._refused)
        self._used_keys.clear()
        self.tries = 1
        self.is_new = False

    def record_success(self) -> None:
        """Record that the current route and key worked."""
        self._cooldowns.clear_route_key(self.route_key)

    def record_failure(self, error: ModelError) -> RetryDecision:
        """Decide how to continue after a failed call, and apply the decision to the plan."""
        failure, route_key = classify_failure(error), self.route_key
        is_on_probation = self._cooldowns.has_failed(route_key.route)
        if failure.kind in ("auth", "quota", "rate_limit"):
            self._used_keys.add(route_key.key)
            self._cooldowns.cool_down_key(route_key, _key_cooldown_s(failure, self._retry_policy))
        next_route = self._next_route(larger=failure.kind == "context_full")
        retry_state = RetryState(self.tries, self._next_key(next_route), next_route, is_on_probation)
        decision = decide(self._retry_policy, retry_state, failure, self._random_fraction())
        match decision:
            case Retry():
                self.tries += 1
            case NextKey():
                self.route_key, self.tries = RouteKey(route_key.route, decision.key), 1
                self._cooldowns.count_turn(decision.key)
            case FallBack():
                self._leave(route_key.route, failure)
                self._used_keys.clear()
                self.route_key, self.tries = RouteKey(decision.route, self._key_of(decision.route)), 1
            case GiveUp():
                if failure.kind in ("silence", "down", "final"):
                    self._cooldowns.cool_down_route(route_key.route, self._retry_policy.rest_s)
        return decision

    def _leave(self, route: str, failure: RouteFailure) -> None:
        self._left.add(route)
        if failure.kind == "refused":
            self._refused.add(route)
        elif failure.kind in ("silence", "down", "final"):
            self._cooldowns.cool_down_route(route, self._retry_policy.rest_s)

    def _next_route(self, *, larger: bool = False) -> str | None:
        """Return the first route not yet abandoned in this step; one that is cooling down only if there is no other.

        With `larger`, the route's window must exceed the current one's.
        """
        least = self._routes[self.route_key.route].window_tokens + 1 if larger else 0
        others = [
            fallback_route.name
            for fallback_route in self._routes.values()
            if fallback_route.name != self.route_key.route
            and fallback_route.name not in self._left
            and fallback_route.window_tokens >= least
        ]
        return min(others, key=self._cooldown_left_s, default=None)

    def _next_key(self, next_route: str | None) -> str | None:
        """Return a key not yet used in this step; one that is cooling down only if there is no usable route."""
        keys = [key for key in self._routes[self.route_key.route].keys if key not in self._used_keys]
        rested = [
            key for key in keys if not self._cooldowns.key_cooldown_s(RouteKey(self.route_key.route, key))
        ]
        if next_route is not None and not self._cooldown_left_s(next_route):
            keys = rested
        return next(iter((*rested, *keys)), None)

    def _key_of(self, route: str) -> str:
        keys = self._routes[route].keys
        is_balanced = self._routes[route].is_balanced

        def rank(key: str) -> tuple[float, int]:
            cooldown_s = self._cooldowns.key_cooldown_s(RouteKey(route, key))
            return cooldown_s, self._cooldowns.turns(key) if is_balanced else 0

        return min(keys, key=rank)

    def _cooldown_left_s(self, name: str) -> float:
        return self._cooldowns.remaining_s(name, self._routes[name].keys)


def _key_cooldown_s(failure: RouteFailure, retry_policy: RetryPolicy) -> float:
    if failure.kind != "rate_limit":
        return KEY_COOLDOWN_S
    return retry_policy.rest_s if failure.retry_after_s is None else failure.retry_after_s
