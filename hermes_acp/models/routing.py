"""What to do when a model call failed: wait, take another key, take another model, or stop.

Knows: kinds of trouble, the waits between tries, which keys and models rest and for how long. Does not know: any
vendor, how a call is made, what a user is told. Clock and dice are given, so every decision can be computed again.

A model that failed rests, and so does a key: the next turn begins with one that works. Rests order the ways, they
never close the last one. What failed last has one try when it comes back, and rests twice as long if that fails too.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.errors import (
    ContextFull,
    ModelAuthFailed,
    ModelRefused,
    ModelSilent,
    ModelTrouble,
    QuotaUsedUp,
    RateLimited,
)

Kind = Literal["auth", "quota", "rate_limit", "silence", "down", "context_full", "refused", "final"]

SILENT_TRIES: Final = 2
"""A call that met silence has cost minutes already."""
TRIES_BEFORE_ANOTHER: Final = 2
"""Where another model stands behind it, a user need not watch the first one fail time after time."""
KEY_REST_S: Final = 600.0
LONGEST_REST_S: Final = 900.0


class Patience(Struct, frozen=True):
    """How often a route is tried, and how long to wait between tries, in seconds.

    `jitter` is the share of a wait that is left to the dice. `longest_wish_s` bounds the wish of an endpoint where
    there is nowhere else to go; where there is, `longest_wait_s` does. `rest_s` is a route's first rest. Of a call
    without a word for `quiet_s` the user is told.
    """

    attempts: int = 4
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    longest_wish_s: float = 300.0
    jitter: float = 0.25
    rest_s: float = 60.0
    quiet_s: float = 20.0

    def wait_s(self, tries: int, wish_s: float | None, roll: float) -> float:
        """Give the wait after `tries` tries: doubling up to its bound, or never less than the endpoint wished.

        `roll` is from 0 up to 1.
        """
        if wish_s is not None:
            return wish_s * (1 + self.jitter * roll)
        return min(self.first_wait_s * 2.0 ** (tries - 1), self.longest_wait_s) * (1 - self.jitter * roll)


class Way(Struct, frozen=True):
    """A route by its name, and the key it is gone with by the name of its variable; never the key itself."""

    route: str
    key: str = ""


class Setback(Struct, frozen=True):
    """What kind of trouble a call met, and how long the endpoint wants to be left alone, if it said so."""

    kind: Kind
    wish_s: float | None = None


class Retry(Struct, frozen=True, tag="retry"):
    """Ask the same way again after a wait."""

    wait_s: float


class NextKey(Struct, frozen=True, tag="next_key"):
    """Ask the same model with another key, at once."""

    key: str


class FallBack(Struct, frozen=True, tag="fall_back"):
    """Ask another model, at once."""

    route: str


class Stop(Struct, frozen=True, tag="stop"):
    """Give the trouble on."""


class Shorten(Struct, frozen=True, tag="shorten"):
    """Make the conversation shorter and ask the same way again; what precedes a decision where that can be done."""


Decision = Retry | NextKey | FallBack | Stop


class Outlook(Struct, frozen=True):
    """Where a step stands: tries on this way so far, and what else there is that could help.

    `is_on_trial` where the route failed lately: it gets one try as long as there is another.
    """

    tries: int
    next_key: str | None = None
    next_route: str | None = None
    is_on_trial: bool = False


def setback_of(trouble: ModelTrouble) -> Setback:
    """Tell what kind of trouble an error is."""
    match trouble:
        case RateLimited():
            return Setback("rate_limit", trouble.retry_after_s)
        case ModelAuthFailed():
            return Setback("auth")
        case QuotaUsedUp():
            return Setback("quota")
        case ContextFull():
            return Setback("context_full")
        case ModelRefused():
            return Setback("refused")
        case ModelSilent():
            return Setback("silence")
        case _:
            return Setback("down" if trouble.retryable else "final")


def decide(patience: Patience, outlook: Outlook, setback: Setback, roll: float) -> Decision:
    """Decide what follows a failed call."""
    attempts = patience.attempts
    match setback.kind:
        case "context_full":
            return _leave(outlook)  # the same model has no more room the second time
        case "auth" | "quota" if outlook.next_key is not None:
            return NextKey(outlook.next_key)
        case "rate_limit" if outlook.next_key is not None:
            return NextKey(outlook.next_key)
        case "auth" | "quota" | "refused" | "final":
            return _leave(outlook)
        case "silence":
            attempts = min(attempts, SILENT_TRIES)
        case "rate_limit" | "down":
            pass
    if outlook.next_route is not None:
        attempts = 1 if outlook.is_on_trial else min(attempts, TRIES_BEFORE_ANOTHER)
    wait_s = patience.wait_s(outlook.tries, setback.wish_s, roll)
    longest_s = patience.longest_wait_s if outlook.next_route is not None else patience.longest_wish_s
    if outlook.tries >= attempts or (setback.wish_s is not None and setback.wish_s > longest_s):
        return _leave(outlook)
    return Retry(wait_s)


def _leave(outlook: Outlook) -> Decision:
    return Stop() if outlook.next_route is None else FallBack(outlook.next_route)


class _Rest(Struct, frozen=True):
    until_s: float
    failures: int = 1


class Rests:
    """Which routes and keys of this process rest, shared by all its turns."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._routes: dict[str, _Rest] = {}
        self._keys: dict[Way, _Rest] = {}

    def rest_route(self, route: str, first_s: float) -> None:
        """Let a route rest: `first_s` at first, twice as long each time it fails again before it worked."""
        before = self._routes.get(route)
        failures = before.failures + 1 if before else 1
        rest_s = min(first_s * 2.0 ** min(failures - 1, 30), LONGEST_REST_S)
        self._routes[route] = _Rest(self._monotonic() + rest_s, failures)

    def rest_key(self, way: Way, rest_s: float) -> None:
        """Let a key rest."""
        self._keys[way] = _Rest(self._monotonic() + rest_s)

    def forgive(self, way: Way) -> None:
        """Forget what was held against a way that worked."""
        self._routes.pop(way.route, None)
        self._keys.pop(way, None)

    def left_s(self, route: str, keys: Sequence[str]) -> float:
        """Give how long a route rests from now on: on its own account, or until the first of its keys is rested."""
        of_keys = min((self.key_left_s(Way(route, key)) for key in keys), default=0.0)
        return max(self._left_s(self._routes.get(route)), of_keys)

    def key_left_s(self, way: Way) -> float:
        """Give how long a key rests from now on."""
        return self._left_s(self._keys.get(way))

    def has_failed(self, route: str) -> bool:
        """Tell whether a route has not worked since it failed."""
        return route in self._routes

    def _left_s(self, rest: _Rest | None) -> float:
        return max(0.0, rest.until_s - self._monotonic()) if rest else 0.0


class Leg(Struct, frozen=True):
    """One route of a course: its name, the names of the variables that hold its keys, `""` for no key, its window."""

    name: str
    keys: tuple[str, ...] = ("",)
    window_tokens: int = 0


class Course:
    """Where one turn stands among its routes and keys. A turn stays with the route it fell back to."""

    def __init__(
        self, legs: Sequence[Leg], patience: Patience, rests: Rests, roll: Callable[[], float]
    ) -> None:
        self._legs = {leg.name: leg for leg in legs}
        self._patience = patience
        self._rests = rests
        self._roll = roll
        self._refused: set[str] = set()
        self._left: set[str] = set()
        self._spent: set[str] = set()
        self.tries = 1
        self.is_new = True
        first = min(self._legs, key=self._rest_left_s)
        self.way = Way(first, self._key_of(first))

    @property
    def passed_over(self) -> str | None:
        """The route of first choice, where the course began with another since that one rests."""
        first = next(iter(self._legs))
        return first if self.is_new and self.way.route != first else None

    @property
    def has_another_route(self) -> bool:
        """Whether there is a route that was not left yet in this step."""
        return self._next_route() is not None

    @property
    def attempts(self) -> int:
        """How often a way is tried at most."""
        return self._patience.attempts

    def begin_step(self) -> None:
        """Let all ways count again but those that refused this turn's content, and stay where the turn is."""
        self._left = set(self._refused)
        self._spent.clear()
        self.tries = 1
        self.is_new = False

    def arrive(self) -> None:
        """Note that the way worked."""
        self._rests.forgive(self.way)

    def turn_from(self, trouble: ModelTrouble) -> Decision:
        """Decide what follows a failed call, and stand where the decision leads."""
        setback, way = setback_of(trouble), self.way
        is_on_trial = self._rests.has_failed(way.route)
        if setback.kind in ("auth", "quota", "rate_limit"):
            self._spent.add(way.key)
            self._rests.rest_key(way, _key_rest_s(setback, self._patience))
        next_route = self._next_route(larger=setback.kind == "context_full")
        outlook = Outlook(self.tries, self._next_key(next_route), next_route, is_on_trial)
        decision = decide(self._patience, outlook, setback, self._roll())
        match decision:
            case Retry():
                self.tries += 1
            case NextKey():
                self.way, self.tries = Way(way.route, decision.key), 1
            case FallBack():
                self._leave(way.route, setback)
                self._spent.clear()
                self.way, self.tries = Way(decision.route, self._key_of(decision.route)), 1
            case Stop():
                if setback.kind in ("silence", "down", "final"):
                    self._rests.rest_route(way.route, self._patience.rest_s)
        return decision

    def _leave(self, route: str, setback: Setback) -> None:
        self._left.add(route)
        if setback.kind == "refused":
            self._refused.add(route)
        elif setback.kind in ("silence", "down", "final"):
            self._rests.rest_route(route, self._patience.rest_s)

    def _next_route(self, *, larger: bool = False) -> str | None:
        """Give the first route not yet left in this step; one that rests only where no other is there.

        Where it must be `larger`, its window has to hold more than that of the route before it.
        """
        least = self._legs[self.way.route].window_tokens + 1 if larger else 0
        others = [
            leg.name
            for leg in self._legs.values()
            if leg.name != self.way.route and leg.name not in self._left and leg.window_tokens >= least
        ]
        return min(others, key=self._rest_left_s, default=None)

    def _next_key(self, next_route: str | None) -> str | None:
        """Give a key not yet spent in this step; one that rests only where no rested route is there."""
        keys = [key for key in self._legs[self.way.route].keys if key not in self._spent]
        rested = [key for key in keys if not self._rests.key_left_s(Way(self.way.route, key))]
        if next_route is not None and not self._rest_left_s(next_route):
            keys = rested
        return next(iter((*rested, *keys)), None)

    def _key_of(self, route: str) -> str:
        keys = self._legs[route].keys
        return min(keys, key=lambda key: self._rests.key_left_s(Way(route, key)))

    def _rest_left_s(self, name: str) -> float:
        return self._rests.left_s(name, self._legs[name].keys)


def _key_rest_s(setback: Setback, patience: Patience) -> float:
    if setback.kind != "rate_limit":
        return KEY_REST_S
    return patience.rest_s if setback.wish_s is None else setback.wish_s
