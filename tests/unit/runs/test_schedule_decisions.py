"""Each due time is decided once, over ten years of daylight saving time and any clock changes."""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.schedule_ports import LatePolicy, Overlap, RunTemplate, Schedule, Timing
from hermes_acp.runs.schedule_decisions import Decision, decide, skip_due_times
from hermes_acp.runs.schedule_times import check_timing, describe_cron, due_times, next_due

START = datetime(2016, 1, 1, tzinfo=UTC).timestamp()
DAY_S = 86400.0
TEN_YEARS_S = 3653 * DAY_S


def schedule(
    cron: str, tz: str = "UTC", late: LatePolicy = "once", within_s: float = 0.0, overlap: Overlap = "skip"
) -> Schedule:
    return Schedule("s", Timing(cron, tz=tz), RunTemplate("p", "/work"), late, within_s, overlap)


def decisions(job: Schedule, moments: Iterator[float], start: float = START) -> list[Decision]:
    """Return the decisions of a worker that reads its clock at these moments."""
    found, until = list[Decision](), start
    for now in moments:
        found += decide(job, until, now, is_active=False).decisions
        until = max(until, now)
    return found


@pytest.mark.parametrize("tz", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
@pytest.mark.parametrize("cron", ["30 2 * * *", "15 0 * * *"])
def test_a_daily_job_runs_once_on_each_day_of_ten_years(cron: str, tz: str) -> None:
    job = schedule(cron, tz)
    found, next_at = list[Decision](), next_due(job.timing, START)
    while next_at and next_at < START + TEN_YEARS_S:
        decided = decide(job, next_at - 60.0, next_at + 1.0, is_active=False)
        found += decided.decisions
        next_at = decided.next_at
    assert {each.fate for each in found} == {"started"}
    days = Counter(datetime.fromtimestamp(each.due_at, ZoneInfo(tz)).date() for each in found)
    first, last = min(days), max(days)
    every = {first + timedelta(days=number) for number in range((last - first).days + 1)}
    assert set(days) == every
    assert set(days.values()) == {1}
    assert first == date(2016, 1, 1) or first == date(2016, 1, 2)
    assert (last - first).days > 3640


@pytest.mark.parametrize("tz", ["Europe/Berlin", "Australia/Lord_Howe"])
def test_a_half_hourly_job_keeps_its_interval_at_clock_changes(tz: str) -> None:
    times = [at for at, _ in zip(due_times(Timing("*/30 * * * *", tz=tz), START), range(5_000), strict=False)]
    assert {round(after - before) for before, after in pairwise(times)} == {1800}


def test_two_day_jumps_skip_and_double_nothing() -> None:
    """Each due time is in exactly one decision, however the clock changes in between."""
    rolls = random.Random(7)
    job = schedule("0 7 * * *", "Europe/Berlin")
    moments, now = list[float](), START
    while now < START + 120 * DAY_S:
        now += rolls.choice((60.0, 3600.0, 3600.0, 7200.0, 2 * DAY_S, -2 * DAY_S))
        moments.append(now)
    found = decisions(job, iter(moments))
    due = list(_until(job, max(moments)))
    reported = [at for each in found for at in due if each.due_at <= at <= (each.until or each.due_at)]
    assert reported == due
    assert sum(each.count for each in found) == len(due)


def _until(job: Schedule, end: float) -> Iterator[float]:
    for at in due_times(job.timing, START):
        if at > end:
            return
        yield at


def test_after_an_absence_one_run_starts_and_the_others_are_reported() -> None:
    (missed, started) = decide(
        schedule("0 * * * *"), START, START + 10 * 3600 + 1800, is_active=False
    ).decisions
    assert (missed.fate, missed.count, missed.due_at, missed.until) == (
        "missed", 9, START + 3600, START + 9 * 3600,
    )  # fmt: skip
    assert (started.fate, started.due_at) == ("started", START + 10 * 3600)


@pytest.mark.parametrize(
    ("late", "within_s", "late_s", "fate"),
    [
        ("once", 0.0, 40 * DAY_S, "started"),
        ("skip", 0.0, 30.0, "started"),
        ("skip", 0.0, 600.0, "missed"),
        ("within", 3600.0, 600.0, "started"),
        ("within", 3600.0, 7200.0, "missed"),
    ],
)
def test_decisions_about_a_late_run(late: LatePolicy, within_s: float, late_s: float, fate: str) -> None:
    job = schedule("0 0 1 1 *", late=late, within_s=within_s)
    due = next_due(job.timing, START)
    assert due
    (decision,) = decide(job, START, due + late_s, is_active=False).decisions
    assert decision.fate == fate


@pytest.mark.parametrize(
    ("overlap", "fate"), [("skip", "skipped"), ("queue", "started"), ("cancel", "started")]
)
def test_decisions_while_the_previous_run_works(overlap: Overlap, fate: str) -> None:
    (decision,) = decide(
        schedule("0 * * * *", overlap=overlap), START, START + 3601, is_active=True
    ).decisions
    assert decision.fate == fate


def test_a_one_time_schedule_is_due_once() -> None:
    job = Schedule("s", Timing(at=START + 100), RunTemplate("p", "/work"))
    decided = decide(job, START, START + 50, is_active=False)
    assert (decided.decisions, decided.next_at) == ((), START + 100)
    decided = decide(job, START, START + 5 * DAY_S, is_active=False)
    assert ([each.fate for each in decided.decisions], decided.next_at) == (["started"], None)


def test_a_decade_of_missed_minutes_is_reported_quickly() -> None:
    (missed, started) = decide(schedule("* * * * *"), START, START + TEN_YEARS_S, is_active=False).decisions
    assert started.due_at == START + TEN_YEARS_S
    assert abs(missed.count - TEN_YEARS_S / 60) < 10


def test_a_pause_is_in_the_history() -> None:
    decided = skip_due_times(schedule("0 * * * *"), START, START + 3 * 3600 + 1)
    assert decided.decisions == (Decision(START + 3600, "paused", 3, START + 3 * 3600),)
    assert decided.next_at == START + 4 * 3600


@pytest.mark.parametrize(
    "timing",
    [Timing("nonsense"), Timing("0 7 * * 1-5 *"), Timing("61 * * * *"), Timing("* * * * *", tz="Mars/X")],
)
def test_invalid_schedules_are_rejected(timing: Timing) -> None:
    with pytest.raises(BadRequest):
        check_timing(timing)


def test_an_expression_is_described_in_words() -> None:
    assert describe_cron(Timing("0 7 * * 1-5")) == "At 07:00 on Monday through Friday"
