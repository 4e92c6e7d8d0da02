"""Decisions after a failed model call: wait, use another key or model, or give up."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.errors import (
    BadReply,
    ContextWindowExceeded,
    ModelAuthFailed,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    QuotaExceeded,
    RateLimited,
)
from hermes_acp.models.routing.fallback_plan import (
    MAX_SILENT_TRIES,
    Cooldowns,
    FallBack,
    FallbackPlan,
    FallbackRoute,
    GiveUp,
    NextKey,
    Retry,
    RetryDecision,
    RetryPolicy,
    RouteKey,
)

DOWN = ModelUnavailable("Answered 500.", retryable=True)
GONE = ModelUnavailable("No such host.")
BAD_KEY = ModelAuthFailed("The key was refused.")
USED_UP = QuotaExceeded("Nothing left.")
REFUSED = ModelRefused("Not this.")
FULL = ContextWindowExceeded("The window is full.")
SILENT = ModelTimeout("Nothing came.", retryable=True)
GARBLED = BadReply("Rubbish.", retryable=True)
TROUBLES = (DOWN, GONE, BAD_KEY, USED_UP, REFUSED, FULL, SILENT, GARBLED)


def limited(retry_after_s: float | None) -> RateLimited:
    return RateLimited("Slower.", retry_after_s=retry_after_s)


class Stopwatch:
    def __init__(self) -> None:
        self.at_s = 0.0

    def read(self) -> float:
        return self.at_s


def plan_over(
    legs: Sequence[FallbackRoute],
    cooldowns: Cooldowns | None = None,
    *,
    retry_policy: RetryPolicy | None = None,
    random_fraction: float = 0.0,
) -> FallbackPlan:
    cooldowns = cooldowns or Cooldowns(Stopwatch().read)
    return FallbackPlan(legs, retry_policy or RetryPolicy(jitter=0.0), cooldowns, lambda: random_fraction)


ONE = (FallbackRoute("a"),)
TWO = (FallbackRoute("a"), FallbackRoute("b"))
KEYS = (FallbackRoute("a", ("K1", "K2")), FallbackRoute("b"))
SIZES = (
    FallbackRoute("a", window_tokens=8),
    FallbackRoute("b", window_tokens=8),
    FallbackRoute("c", window_tokens=64),
)


def met(fallback_plan: FallbackPlan, *troubles: ModelError) -> list[RetryDecision]:
    fallback_plan.begin_step()
    return [fallback_plan.record_failure(trouble) for trouble in troubles]


def test_a_server_error_is_retried_with_doubling_delays_and_then_the_route_is_left() -> None:
    assert met(plan_over(ONE), DOWN, GARBLED, DOWN, DOWN) == [Retry(1.0), Retry(2.0), Retry(4.0), GiveUp()]
    assert met(plan_over(TWO), DOWN, DOWN) == [Retry(1.0), FallBack("b")]


def test_a_rejected_key_is_never_retried() -> None:
    assert met(plan_over(ONE), BAD_KEY) == [GiveUp()]
    assert met(plan_over(TWO), BAD_KEY) == [FallBack("b")]
    assert met(plan_over(KEYS), BAD_KEY, USED_UP, BAD_KEY) == [NextKey("K2"), FallBack("b"), GiveUp()]


def test_a_rate_limit_takes_the_next_key_first_and_then_waits_as_requested() -> None:
    assert met(plan_over(KEYS), limited(9.0), limited(5.0)) == [NextKey("K2"), Retry(5.0)]
    assert met(plan_over(ONE), limited(None)) == [Retry(1.0)]


@pytest.mark.parametrize(
    ("legs", "wish_s", "decision"),
    [
        (TWO, 30.0, Retry(30.0)),
        (TWO, 31.0, FallBack("b")),
        (ONE, 31.0, Retry(31.0)),
        (ONE, 300.0, Retry(300.0)),
        (ONE, 301.0, GiveUp()),
    ],
)
def test_a_long_delay_is_a_reason_to_use_another_route(
    legs: tuple[FallbackRoute, ...], wish_s: float, decision: RetryDecision
) -> None:
    assert met(plan_over(legs), limited(wish_s)) == [decision]


def test_a_full_window_changes_no_route_until_the_history_is_shorter() -> None:
    fallback_plan = plan_over(KEYS)
    assert met(fallback_plan, FULL) == [GiveUp()]
    assert fallback_plan.route_key == RouteKey("a", "K1")


def test_declined_content_goes_to_another_model_for_the_rest_of_the_turn() -> None:
    fallback_plan = plan_over(TWO)
    assert met(fallback_plan, REFUSED) == [FallBack("b")]
    assert met(fallback_plan, GONE) == [GiveUp()]
    cooldowns = Cooldowns(Stopwatch().read)
    assert met(plan_over(TWO, cooldowns), REFUSED) == [FallBack("b")]
    assert plan_over(TWO, cooldowns).route_key.route == "a"


def test_a_silent_model_is_retried_once() -> None:
    assert met(plan_over(ONE), *[SILENT] * MAX_SILENT_TRIES) == [Retry(1.0), GiveUp()]
    assert met(plan_over(TWO), *[SILENT] * MAX_SILENT_TRIES) == [Retry(1.0), FallBack("b")]


def test_a_turn_stays_on_its_fallback_and_the_next_starts_there_until_the_cooldown_ends() -> None:
    watch = Stopwatch()
    cooldowns = Cooldowns(watch.read)
    fallback_plan = plan_over(TWO, cooldowns)
    met(fallback_plan, GONE)
    fallback_plan.record_success()
    fallback_plan.begin_step()
    assert fallback_plan.route_key.route == "b"
    assert plan_over(TWO, cooldowns).skipped_route == "a"
    watch.at_s = 61.0
    assert plan_over(TWO, cooldowns).route_key.route == "a"
    assert plan_over(TWO, cooldowns).skipped_route is None


def test_a_route_after_its_cooldown_gets_one_attempt_and_then_longer_cooldowns() -> None:
    watch = Stopwatch()
    cooldowns = Cooldowns(watch.read)
    met(plan_over(TWO, cooldowns), GONE)
    for rest_s in (120.0, 240.0, 480.0, 900.0, 900.0):
        watch.at_s += 10_000.0
        assert met(plan_over(TWO, cooldowns), DOWN) == [FallBack("b")]
        assert cooldowns.remaining_s("a", ("",)) == rest_s
    watch.at_s += 10_000.0
    fallback_plan = plan_over(TWO, cooldowns)
    fallback_plan.begin_step()
    fallback_plan.record_success()
    assert met(fallback_plan, DOWN) == [Retry(1.0)]


def test_the_last_route_is_never_closed() -> None:
    cooldowns = Cooldowns(Stopwatch().read)
    assert met(plan_over(ONE, cooldowns), GONE) == [GiveUp()]
    fallback_plan = plan_over(ONE, cooldowns)
    assert fallback_plan.route_key == RouteKey("a", "")
    assert met(fallback_plan, DOWN) == [Retry(1.0)]


def test_a_full_window_continues_only_on_a_model_with_a_larger_one() -> None:
    fallback_plan = plan_over(SIZES)
    assert fallback_plan.record_failure(FULL) == FallBack("c")
    assert fallback_plan.record_failure(FULL) == GiveUp()
    assert plan_over(SIZES).route_key == RouteKey("a"), (
        "a window that was too small for one turn is no failure"
    )


def test_a_rate_limited_key_is_skipped_by_the_next_turn() -> None:
    watch = Stopwatch()
    cooldowns = Cooldowns(watch.read)
    met(plan_over(KEYS, cooldowns), limited(50.0))
    assert plan_over(KEYS, cooldowns).route_key == RouteKey("a", "K2")
    watch.at_s = 51.0
    assert plan_over(KEYS, cooldowns).route_key == RouteKey("a", "K1")


waits = st.floats(0, 1000)
rolls = st.floats(0, 1, exclude_max=True)
troubles = st.one_of(st.sampled_from(TROUBLES), st.builds(limited, st.none() | waits))
key_names = st.lists(st.sampled_from(("K1", "K2", "K3")), min_size=1, max_size=3, unique=True).map(tuple)
sizes = st.sampled_from((8, 64))
legs_of_any_kind = st.lists(st.tuples(key_names, sizes), min_size=1, max_size=4).map(
    lambda ways: tuple(FallbackRoute(f"r{number}", keys, size) for number, (keys, size) in enumerate(ways))
)


@given(st.integers(1, 12), st.none() | waits, rolls, st.floats(0, 1))
def test_delays_stay_within_their_limits_and_respect_the_endpoint(
    tries: int, wish_s: float | None, random_fraction: float, jitter: float
) -> None:
    retry_policy = RetryPolicy(first_wait_s=1.0, longest_wait_s=5.0, jitter=jitter)
    wait_s = retry_policy.wait_s(tries, wish_s, random_fraction)
    if wish_s is not None:
        assert wish_s <= wait_s <= wish_s * (1 + jitter)
    else:
        bound_s = min(2.0 ** (tries - 1), 5.0)
        assert bound_s * (1 - jitter) <= wait_s <= bound_s


@given(legs_of_any_kind, st.integers(1, 5), st.lists(st.lists(troubles, max_size=90), max_size=4), rolls)
def test_the_invariants_of_a_fallback_plan(
    legs: tuple[FallbackRoute, ...], attempts: int, steps: list[list[ModelError]], random_fraction: float
) -> None:
    """Whatever fails: a step ends, repeats no route, respects refusals and requested delays, and stops only at the
    end.
    """
    retry_policy = RetryPolicy(attempts=attempts)
    fallback_plan = plan_over(legs, retry_policy=retry_policy, random_fraction=random_fraction)
    refused_in_turn: set[str] = set()
    for step in steps:
        fallback_plan.begin_step()
        been: list[RouteKey] = [fallback_plan.route_key]
        dead: set[RouteKey] = set()
        calls = 0
        for trouble in step:
            before, calls = fallback_plan.route_key, calls + 1
            assert before not in dead
            decision = fallback_plan.record_failure(trouble)
            if isinstance(trouble, ModelAuthFailed | QuotaExceeded):
                dead.add(before)
            if isinstance(trouble, ModelRefused) and not isinstance(trouble, QuotaExceeded):
                refused_in_turn.add(before.route)
            match decision:
                case Retry():
                    assert fallback_plan.route_key == before
                    assert not isinstance(trouble, ModelAuthFailed | ModelRefused | ContextWindowExceeded)
                    if isinstance(trouble, RateLimited) and trouble.retry_after_s is not None:
                        assert decision.wait_s >= trouble.retry_after_s
                case NextKey():
                    assert fallback_plan.route_key.route == before.route
                    assert fallback_plan.route_key not in been
                case FallBack():
                    assert fallback_plan.route_key.route not in {route_key.route for route_key in been}
                case GiveUp():
                    been_to = {route_key.route for route_key in been}
                    assert isinstance(trouble, ContextWindowExceeded) or been_to | refused_in_turn == {
                        fallback_route.name for fallback_route in legs
                    }
                    break
            been.append(fallback_plan.route_key)
        assert calls <= sum(attempts * len(fallback_route.keys) for fallback_route in legs)


@given(legs_of_any_kind, st.lists(st.tuples(troubles, waits), max_size=20))
def test_a_plan_starts_with_a_route_that_has_no_cooldown_if_there_is_one(
    legs: tuple[FallbackRoute, ...], past: list[tuple[ModelError, float]]
) -> None:
    watch = Stopwatch()
    cooldowns = Cooldowns(watch.read)
    for trouble, later_s in past:
        met(plan_over(legs, cooldowns), trouble)
        watch.at_s += later_s
    rested = [
        fallback_route.name
        for fallback_route in legs
        if not cooldowns.remaining_s(fallback_route.name, fallback_route.keys)
    ]
    route_key = plan_over(legs, cooldowns).route_key
    assert (
        route_key.route == rested[0]
        if rested
        else route_key.route in {fallback_route.name for fallback_route in legs}
    )
    keys = next(fallback_route.keys for fallback_route in legs if fallback_route.name == route_key.route)
    free = [key for key in keys if not cooldowns.key_cooldown_s(RouteKey(route_key.route, key))]
    assert not free or route_key.key == free[0]


def test_balanced_keys_alternate_and_a_key_with_a_cooldown_is_skipped() -> None:
    cooldowns = Cooldowns(Stopwatch().read)
    balanced = (FallbackRoute("a", ("K1", "K2", "K3"), is_balanced=True),)
    began = [plan_over(balanced, cooldowns).route_key.key for _ in range(5)]
    assert began == ["K1", "K2", "K3", "K1", "K2"]
    plan = plan_over(balanced, cooldowns)
    assert plan.route_key.key == "K3"
    met(plan, ModelAuthFailed("No."))
    assert [plan_over(balanced, cooldowns).route_key.key for _ in range(3)] != ["K3", "K3", "K3"]
    assert "K3" not in [plan_over(balanced, cooldowns).route_key.key for _ in range(4)]
    assert [plan_over(KEYS, cooldowns).route_key.key for _ in range(2)] == ["K1", "K1"]
