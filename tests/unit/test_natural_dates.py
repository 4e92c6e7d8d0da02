"""Dates as people write them, and the time span that each one covers."""

import subprocess
import sys
from datetime import datetime

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.natural_dates import read_date, read_range

TUESDAY = datetime(2026, 11, 24, 13, 30).timestamp()


def span(text: str) -> tuple[str, str]:
    read = read_date(text, TUESDAY)
    start, end = datetime.fromtimestamp(read.start), datetime.fromtimestamp(read.end)
    return f"{start:%Y-%m-%d %H:%M}", f"{end:%Y-%m-%d %H:%M}"


def day(first: str, after: str) -> tuple[str, str]:
    return f"{first} 00:00", f"{after} 00:00"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-04", day("2026-03-04", "2026-03-05")),
        ("2026-02", day("2026-02-01", "2026-03-01")),
        ("2025", day("2025-01-01", "2026-01-01")),
        ("2026-03-04 17:30", ("2026-03-04 17:30", "2026-03-04 17:30")),
        ("2d", day("2026-11-22", "2026-11-23")),
        ("3 weeks ago", day("2026-11-03", "2026-11-04")),
        ("2 hours ago", ("2026-11-24 11:30", "2026-11-24 11:30")),
        ("two weeks ago", day("2026-11-10", "2026-11-11")),
        ("today", day("2026-11-24", "2026-11-25")),
        ("yesterday", day("2026-11-23", "2026-11-24")),
        ("last Tuesday", day("2026-11-17", "2026-11-18")),
        ("Friday", day("2026-11-20", "2026-11-21")),
        ("last  week", day("2026-11-16", "2026-11-23")),
        ("past month", day("2026-10-01", "2026-11-01")),
        ("last year", day("2025-01-01", "2026-01-01")),
        ("March 3", day("2026-03-03", "2026-03-04")),
        ("yesterday 3pm", ("2026-11-23 15:00", "2026-11-23 15:00")),
    ],
)
def test_a_date_names_a_span_of_time(text: str, expected: tuple[str, str]) -> None:
    assert span(text) == expected


@pytest.mark.parametrize(
    "text", ["", "banana", "5", "03/04/2026", "2026-13-01", "9999-12", "999999 years", "x" * 500]
)
def test_text_that_is_not_a_date_is_rejected_with_examples(text: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read_date(text, TUESDAY)
    assert "last Tuesday" in caught.value.hint
    assert len(caught.value.message) < 150


def test_a_range_runs_from_the_start_of_one_date_to_the_end_of_the_other() -> None:
    week = read_date("last week", TUESDAY)
    assert read_range("last week", "last week", TUESDAY) == (week.start, week.end)
    assert read_range("", " ", TUESDAY) == (None, None)
    with pytest.raises(BadRequest, match="before"):
        read_range("yesterday", "last month", TUESDAY)


def test_dates_use_the_users_time_zone_and_the_library_is_loaded_only_for_phrases() -> None:
    program = "span = read_date('2026-03-08', 0.0); print(span.start, span.end - span.start)"
    assert shown_in_new_york(program) == "1772946000.0 82800.0\n", "clocks go forward on this day"


def test_hours_are_counted_in_elapsed_time_when_the_clocks_change() -> None:
    after_both_changes = (1772955000.0, 1793514600.0)
    program = f"print([at - read_date('3h', at).start for at in {after_both_changes}])"
    assert shown_in_new_york(program) == "[10800.0, 10800.0]\n"


def shown_in_new_york(program: str) -> str:
    """Return a program's output where the clocks change on March 8 and November 1, without loading the library."""
    preface = "import sys; from hermes_acp.natural_dates import read_date; "
    program = f"{preface}{program}; assert 'dateparser' not in sys.modules"
    return subprocess.run(
        [sys.executable, "-c", program],
        env={"TZ": "America/New_York"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
