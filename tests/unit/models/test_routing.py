"""What follows a failed call: a wait, another key, another model, or the end."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.errors import (
    BadReply,
    ContextFull,
    ModelAuthFailed,
    ModelDown,
    ModelRefused,
    ModelSilent,
    ModelTrouble,
    QuotaUsedUp,
    RateLimited,
)
from hermes_acp.models.routing import (
    SILENT_TRIES,
    Course,
    Decision,
    FallBack,
    Leg,
    NextKey,
    Patience,
    Rests,
    Retry,
    Stop,
    Way,
)

DOWN = ModelDown("Answered 500.", retryable=True)
GONE = ModelDown("No such host.")
BAD_KEY = ModelAuthFailed("The key was refused.")
USED_UP = QuotaUsedUp("Nothing left.")
REFUSED = ModelRefused("Not this.")
FULL = ContextFull("The window is full.")
SILENT = ModelSilent("Nothing came.", retryable=True)
GARBLED = BadReply("Rubbish.", retryable=True)
TROUBLES = (DOWN, GONE, BAD_KEY, USED_UP, REFUSED, FULL, SILENT, GARBLED)


def limited(retry_after_s: float | None) -> RateLimited:
    return RateLimited("Slower.", retry_after_s=retry_after_s)


class Stopwatch:
    def __init__(self) -> None:
        self.at_s = 0.0

    def read(self) -> float:
        return self.at_s


def course_over(
    legs: Sequence[Leg], rests: Rests | None = None, *, patience: Patience | None = None, roll: float = 0.0
) -> Course:
    rests = rests or Rests(Stopwatch().read)
    return Course(legs, patience or Patience(jitter=0.0), rests, lambda: roll)


ONE = (Leg("a"),)
TWO = (Leg("a"), Leg("b"))
KEYS = (Leg("a", ("K1", "K2")), Leg("b"))
SIZES = (Leg("a", window_tokens=8), Leg("b", window_tokens=8), Leg("c", window_tokens=64))


def met(course: Course, *troubles: ModelTrouble) -> list[Decision]:
    course.begin_step()
    return [course.turn_from(trouble) for trouble in troubles]


def test_a_server_error_is_tried_again_with_doubling_waits_and_then_left() -> None:
    assert met(course_over(ONE), DOWN, GARBLED, DOWN, DOWN) == [Retry(1.0), Retry(2.0), Retry(4.0), Stop()]
    assert met(course_over(TWO), DOWN, DOWN) == [Retry(1.0), FallBack("b")]


def test_a_refused_key_is_never_tried_again() -> None:
    assert met(course_over(ONE), BAD_KEY) == [Stop()]
    assert met(course_over(TWO), BAD_KEY) == [FallBack("b")]
    assert met(course_over(KEYS), BAD_KEY, USED_UP, BAD_KEY) == [NextKey("K2"), FallBack("b"), Stop()]


def test_a_rate_limit_takes_the_next_key_first_and_then_waits_as_long_as_it_is_told() -> None:
    assert met(course_over(KEYS), limited(9.0), limited(5.0)) == [NextKey("K2"), Retry(5.0)]
    assert met(course_over(ONE), limited(None)) == [Retry(1.0)]


@pytest.mark.parametrize(
    ("legs", "wish_s", "decision"),
    [
        (TWO, 30.0, Retry(30.0)),
        (TWO, 31.0, FallBack("b")),
        (ONE, 31.0, Retry(31.0)),
        (ONE, 300.0, Retry(300.0)),
        (ONE, 301.0, Stop()),
    ],
)
def test_a_long_wait_is_a_reason_to_go_elsewhere(
    legs: tuple[Leg, ...], wish_s: float, decision: Decision
) -> None:
    assert met(course_over(legs), limited(wish_s)) == [decision]


def test_a_full_window_goes_nowhere_until_the_history_is_shorter() -> None:
    course = course_over(KEYS)
    assert met(course, FULL) == [Stop()]
    assert course.way == Way("a", "K1")


def test_refused_content_goes_to_another_model_and_does_not_come_back_in_this_turn() -> None:
    course = course_over(TWO)
    assert met(course, REFUSED) == [FallBack("b")]
    assert met(course, GONE) == [Stop()]
    rests = Rests(Stopwatch().read)
    assert met(course_over(TWO, rests), REFUSED) == [FallBack("b")]
    assert course_over(TWO, rests).way.route == "a"


def test_silence_is_tried_again_once() -> None:
    assert met(course_over(ONE), *[SILENT] * SILENT_TRIES) == [Retry(1.0), Stop()]
    assert met(course_over(TWO), *[SILENT] * SILENT_TRIES) == [Retry(1.0), FallBack("b")]


def test_a_turn_stays_where_it_fell_back_to_and_the_next_begins_there_until_the_rest_is_over() -> None:
    watch = Stopwatch()
    rests = Rests(watch.read)
    course = course_over(TWO, rests)
    met(course, GONE)
    course.arrive()
    course.begin_step()
    assert course.way.route == "b"
    assert course_over(TWO, rests).passed_over == "a"
    watch.at_s = 61.0
    assert course_over(TWO, rests).way.route == "a"
    assert course_over(TWO, rests).passed_over is None


def test_a_route_that_comes_back_has_one_try_and_rests_longer_each_time() -> None:
    watch = Stopwatch()
    rests = Rests(watch.read)
    met(course_over(TWO, rests), GONE)
    for rest_s in (120.0, 240.0, 480.0, 900.0, 900.0):
        watch.at_s += 10_000.0
        assert met(course_over(TWO, rests), DOWN) == [FallBack("b")]
        assert rests.left_s("a", ("",)) == rest_s
    watch.at_s += 10_000.0
    course = course_over(TWO, rests)
    course.begin_step()
    course.arrive()
    assert met(course, DOWN) == [Retry(1.0)]


def test_the_last_way_is_never_closed() -> None:
    rests = Rests(Stopwatch().read)
    assert met(course_over(ONE, rests), GONE) == [Stop()]
    course = course_over(ONE, rests)
    assert course.way == Way("a", "")
    assert met(course, DOWN) == [Retry(1.0)]


def test_a_full_window_goes_on_only_where_there_is_a_larger_one() -> None:
    course = course_over(SIZES)
    assert course.turn_from(FULL) == FallBack("c")
    assert course.turn_from(FULL) == Stop()
    assert course_over(SIZES).way == Way("a"), "a window that was too small for one turn is no failure"


def test_a_limited_key_is_passed_over_by_the_next_turn() -> None:
    watch = Stopwatch()
    rests = Rests(watch.read)
    met(course_over(KEYS, rests), limited(50.0))
    assert course_over(KEYS, rests).way == Way("a", "K2")
    watch.at_s = 51.0
    assert course_over(KEYS, rests).way == Way("a", "K1")


waits = st.floats(0, 1000)
rolls = st.floats(0, 1, exclude_max=True)
troubles = st.one_of(st.sampled_from(TROUBLES), st.builds(limited, st.none() | waits))
key_names = st.lists(st.sampled_from(("K1", "K2", "K3")), min_size=1, max_size=3, unique=True).map(tuple)
sizes = st.sampled_from((8, 64))
legs_of_any_kind = st.lists(st.tuples(key_names, sizes), min_size=1, max_size=4).map(
    lambda ways: tuple(Leg(f"r{number}", keys, size) for number, (keys, size) in enumerate(ways))
)


@given(st.integers(1, 12), st.none() | waits, rolls, st.floats(0, 1))
def test_waits_stay_within_their_bounds_and_heed_the_endpoint(
    tries: int, wish_s: float | None, roll: float, jitter: float
) -> None:
    patience = Patience(first_wait_s=1.0, longest_wait_s=5.0, jitter=jitter)
    wait_s = patience.wait_s(tries, wish_s, roll)
    if wish_s is not None:
        assert wish_s <= wait_s <= wish_s * (1 + jitter)
    else:
        bound_s = min(2.0 ** (tries - 1), 5.0)
        assert bound_s * (1 - jitter) <= wait_s <= bound_s


@given(legs_of_any_kind, st.integers(1, 5), st.lists(st.lists(troubles, max_size=90), max_size=4), rolls)
def test_the_laws_of_a_course(
    legs: tuple[Leg, ...], attempts: int, steps: list[list[ModelTrouble]], roll: float
) -> None:
    """Whatever goes wrong: a step ends, goes nowhere twice, respects refusals and wishes, stops only at the end."""
    patience = Patience(attempts=attempts)
    course = course_over(legs, patience=patience, roll=roll)
    refused_in_turn: set[str] = set()
    for step in steps:
        course.begin_step()
        been: list[Way] = [course.way]
        dead: set[Way] = set()
        calls = 0
        for trouble in step:
            before, calls = course.way, calls + 1
            assert before not in dead
            decision = course.turn_from(trouble)
            if isinstance(trouble, ModelAuthFailed | QuotaUsedUp):
                dead.add(before)
            if isinstance(trouble, ModelRefused) and not isinstance(trouble, QuotaUsedUp):
                refused_in_turn.add(before.route)
            match decision:
                case Retry():
                    assert course.way == before
                    assert not isinstance(trouble, ModelAuthFailed | ModelRefused | ContextFull)
                    if isinstance(trouble, RateLimited) and trouble.retry_after_s is not None:
                        assert decision.wait_s >= trouble.retry_after_s
                case NextKey():
                    assert course.way.route == before.route
                    assert course.way not in been
                case FallBack():
                    assert course.way.route not in {way.route for way in been}
                case Stop():
                    been_to = {way.route for way in been}
                    assert isinstance(trouble, ContextFull) or been_to | refused_in_turn == {
                        leg.name for leg in legs
                    }
                    break
            been.append(course.way)
        assert calls <= sum(attempts * len(leg.keys) for leg in legs)


@given(legs_of_any_kind, st.lists(st.tuples(troubles, waits), max_size=20))
def test_a_course_begins_with_a_rested_way_wherever_there_is_one(
    legs: tuple[Leg, ...], past: list[tuple[ModelTrouble, float]]
) -> None:
    watch = Stopwatch()
    rests = Rests(watch.read)
    for trouble, later_s in past:
        met(course_over(legs, rests), trouble)
        watch.at_s += later_s
    rested = [leg.name for leg in legs if not rests.left_s(leg.name, leg.keys)]
    way = course_over(legs, rests).way
    assert way.route == rested[0] if rested else way.route in {leg.name for leg in legs}
    keys = next(leg.keys for leg in legs if leg.name == way.route)
    free = [key for key in keys if not rests.key_left_s(Way(way.route, key))]
    assert not free or way.key == free[0]
