"""Meaning of the exit code and output of a hook's command for each event."""

import pytest

from hermes_acp.config.sections.hook_settings import EVENTS, REFUSING_EVENTS, HookEvent
from hermes_acp.hooks.hook_answers import CONTEXT_EVENTS, HookAnswer, answer_of
from hermes_acp.workspaces.local_commands import PipedResult


@pytest.mark.parametrize("event", EVENTS)
def test_no_output_has_no_effect(event: HookEvent) -> None:
    assert answer_of(event, PipedResult("\n", "a log line", 0), 1.0) == HookAnswer()


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("output", ["a note", '{"context": "a note"}'])
def test_output_is_for_the_model_in_events_where_it_reads_it(event: HookEvent, output: str) -> None:
    expected = HookAnswer(context="a note") if event in CONTEXT_EVENTS else HookAnswer()
    assert answer_of(event, PipedResult(output, "", 0), 1.0) == expected


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("ended", [PipedResult("", "no", 2), PipedResult('{"refuse": "no"}', "", 0)])
def test_a_refusal_counts_only_in_events_that_can_be_refused(event: HookEvent, ended: PipedResult) -> None:
    answer = answer_of(event, ended, 1.0)
    if event in REFUSING_EVENTS:
        assert answer == HookAnswer(refusal="no")
    elif event == "after_tool" and ended.exit_code:
        assert answer == HookAnswer(context="no")
    else:
        assert answer.failure == f"it refused, which a hook for {event} may not do"


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("{", "starts like JSON"),
        ("{}}", "starts like JSON"),
        ('{"context": 1}', "has the field 'context'"),
        ('{"decision": "allow"}', "has the field 'decision'"),
        ('{"a":' * 5000, "starts like JSON"),
    ],
)
def test_invalid_json_is_a_failure(output: str, why: str) -> None:
    assert why in answer_of("before_tool", PipedResult(output, "", 0), 1.0).failure


def test_a_failure_says_how_the_command_ended() -> None:
    assert answer_of("prompt", PipedResult("", "oops\n", 1), 1.0).failure == "exit code 1: oops"
    assert answer_of("prompt", PipedResult("", "", None), 1.0).failure == "it was killed"
    assert "2.5 s" in answer_of("prompt", PipedResult("x", "", None, timed_out=True), 2.5).failure
    assert len(answer_of("prompt", PipedResult("", "x" * 9999, 1), 1.0).failure) < 400
