"""Metrics in the Prometheus text format, read with Prometheus's own parser, and the counting of a session's events."""

from typing import Any

import pytest

from hermes_acp.core.events import (
    CallEnded,
    CallStarted,
    ChildReported,
    Event,
    PermissionAnswered,
    PermissionAsked,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnEnded,
    TurnStarted,
)
from hermes_acp.core.messages import Usage
from hermes_acp.telemetry.metrics import MAX_SERIES, Counts, Histogram, Metric, histogram_text, metric_text
from hermes_acp.telemetry.session_metrics import SessionMetrics
from tests.unit.recorded_session import NamedSession


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Read a text with the parser of the official client."""
    parser: Any = pytest.importorskip("prometheus_client.parser")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counts_and_unusual_labels_are_read_as_intended() -> None:
    metric = Metric("calls_total", 'Calls, by "tool" and \\ outcome.\nTwo lines.', ("tool", "outcome"))
    odd = ('a "b" \\ c\nd', "été")
    text = metric_text(metric, "counter", {odd: 3, ("x", "y"): 0.25})
    assert samples(text) == {
        ("calls_total", (("outcome", "été"), ("tool", odd[0]))): 3.0,
        ("calls_total", (("outcome", "y"), ("tool", "x"))): 0.25,
    }
    assert samples(metric_text(Metric("open", "Open."), "gauge", 7)) == {("open", ()): 7.0}


def test_a_histogram_is_cumulative() -> None:
    histogram = Histogram((0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 3.0):
        histogram.observe(value)
    assert samples(histogram_text(Metric("took_seconds", "Time."), histogram)) == {
        ("took_seconds_bucket", (("le", "0.1"),)): 2.0,
        ("took_seconds_bucket", (("le", "1"),)): 3.0,
        ("took_seconds_bucket", (("le", "+Inf"),)): 4.0,
        ("took_seconds_sum", ()): 3.65,
        ("took_seconds_count", ()): 4.0,
    }


def test_labels_from_outside_are_limited_in_number() -> None:
    counts = Counts()
    for number in range(3 * MAX_SERIES):
        counts.add((f"model-{number}", "completed"))
    assert len(counts.values) == MAX_SERIES + 1
    assert counts.values["other", "other"] == 2 * MAX_SERIES


def test_events_are_counted() -> None:
    now = [0.0]
    metrics = SessionMetrics(lambda: now[0], frozenset({"read_file"}))
    meter = metrics.opened(NamedSession("one"))
    metrics.opened(NamedSession("two"))

    def show(at_s: float, *events: Event) -> None:
        now[0] = at_s
        for event in events:
            meter.show(event)

    show(0.0, TurnStarted("t"))
    assert (metrics.open_sessions, metrics.running_turns) == (2, 1)
    show(0.4, TextSaid("m", "word"))
    show(0.5, StepFailed("m", "lost", True, "vendor"))
    show(1.0, TextSaid("m", "word"), TextSaid("m", "more"))
    show(2.0, StepEnded("m", usage=Usage(10, 4, 6), provider="vendor"))
    show(2.0, PermissionAsked("c"))
    assert metrics.open_questions == 1
    show(5.0, PermissionAnswered("c", "allow_once"), CallStarted("c"))
    show(6.0, CallEnded("c", "read_file", "completed", ""), CallEnded("d", "mcp_thing", "failed", ""))
    child = StepEnded("m", usage=Usage(1, 1, 0), provider="other vendor")
    show(6.0, ChildReported("one.child", child), ChildReported("one.child", PermissionAsked("c")))
    assert metrics.open_questions == 0
    show(7.0, TurnEnded("t", "done"))
    assert metrics.running_turns == 0
    assert (metrics.turns.values["done",], sum(metrics.turns.values.values())) == (1, 1)
    assert metrics.model_requests.values == {
        ("vendor", "retried"): 1,
        ("vendor", "completed"): 1,
        ("other vendor", "completed"): 1,
    }
    assert metrics.tokens.values == {("input",): 11, ("output",): 5}
    assert metrics.cached_tokens.values == {(): 6}
    assert metrics.tool_calls.values == {("read_file", "completed"): 1, ("other", "failed"): 1}
    text = histogram_text(Metric("t", "T."), metrics.tool_s) + histogram_text(
        Metric("f", "F."), metrics.first_word_s
    )
    assert {"t_sum 1", "t_count 1", "f_sum 0.9", "f_count 2"} <= set(text.splitlines())
    metrics.closed("two")
    assert metrics.open_sessions == 1
