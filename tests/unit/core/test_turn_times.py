"""Division of a turn's time between the model, tools and the user."""

from collections.abc import Iterable

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    Noticed,
    PermissionAnswered,
    PermissionAsked,
    StepEnded,
    TextSaid,
    ThoughtSaid,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.record.turn_times import TurnTimer, TurnTimes

END = TurnEnded("t", "done")


def times_of(events: Iterable[tuple[float | None, Event]]) -> list[TurnTimes]:
    timer = TurnTimer()
    ended = [timer.take(event, at) for at, event in events]
    return [times for times in ended if times]


def proposed(call_id: str, name: str = "execute", within: str = "") -> CallProposed:
    return CallProposed(call_id, name, name, "execute", within=within)


def ended(call_id: str) -> CallEnded:
    return CallEnded(call_id, "execute", "completed", "")


def test_model_tool_and_user_time_are_distinguished() -> None:
    (times,) = times_of(
        [
            (100.0, TurnStarted("t")),
            (101.0, UserSaid("m", ())),
            (103.0, ThoughtSaid("a", "Hm")),
            (104.0, TextSaid("a", "I")),
            (106.0, StepEnded("a")),
            (106.5, proposed("c")),
            (107.0, PermissionAsked("c")),
            (167.0, PermissionAnswered("c", "allow_once")),
            (167.0, CallStarted("c")),
            (170.0, ended("c")),
            (172.0, StepEnded("b")),
            (172.5, END),
        ]
    )
    assert times == TurnTimes(
        began_at=100.0, total_s=72.5, model_s=7.0, first_token_s=2.0, tools_s=3.0, waiting_s=60.0
    )


def test_concurrent_calls_count_once_and_work_takes_precedence_over_a_question() -> None:
    (times,) = times_of(
        [
            (0.0, TurnStarted("t")),
            *((0.0, event) for event in (proposed("a"), CallStarted("a"), proposed("b"), CallStarted("b"))),
            (4.0, ended("a")),
            (4.0, proposed("c")),
            (4.0, PermissionAsked("c")),
            (5.0, ended("b")),
            (9.0, PermissionAnswered("c", "reject_once")),
            (9.0, ended("c")),
            (9.0, END),
        ]
    )
    assert (times.tools_s, times.waiting_s, times.model_s) == (5.0, 4.0, 0.0)
    assert times.first_token_s is None


def test_a_call_waits_while_its_inner_call_is_asked_about() -> None:
    (times,) = times_of(
        [
            (0.0, TurnStarted("t")),
            *((0.0, event) for event in (proposed("outer", "delegate"), CallStarted("outer"))),
            *((2.0, event) for event in (proposed("inner", within="outer"), PermissionAsked("inner"))),
            (10.0, PermissionAnswered("inner", "allow_once")),
            (11.0, ended("outer")),
            *((11.0, event) for event in (proposed("q", "ask_user"), CallStarted("q"))),
            (20.0, ended("q")),
            (20.0, END),
        ]
    )
    assert (times.tools_s, times.waiting_s) == (3.0, 17.0)


def test_records_without_times_and_unfinished_turns_have_no_times() -> None:
    assert times_of([(None, TurnStarted("t")), (None, END)]) == []
    assert times_of([(1.0, TurnStarted("t")), (None, Noticed("info", "x")), (2.0, END)]) == []
    cut_off = [(1.0, TurnStarted("t")), (5.0, TurnStarted("u")), (4.0, TextSaid("a", "x")), (7.0, END)]
    (times,) = times_of(cut_off)
    assert (times.began_at, times.total_s, times.first_token_s) == (5.0, 2.0, 0.0), (
        "a clock that was set back"
    )
