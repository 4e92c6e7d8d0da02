"""Every ending has a message, a stop reason or an error, and an exit code; no failure looks like an answer."""

from typing import get_args

import pytest

from hermes_acp.agent.stages.ending_notice import TOLD
from hermes_acp.agent.turn.turn_endings import SENTENCES, make_ending
from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import TurnEnded
from hermes_acp.frontends.acp.translation.stop_reasons import STOP_REASONS, failure_code
from hermes_acp.frontends.acp.v2.updates import UpdateStream
from hermes_acp.frontends.cli.run.headless_session import EXIT_CODES
from hermes_protocol import v2

REASONS: tuple[ExitReason, ...] = get_args(ExitReason)
FAILURES = {"model_trouble", "storage_trouble", "gave_up", "bad_calls", "looping", "empty"}


def test_every_reason_is_mapped_everywhere() -> None:
    assert set(REASONS) == set(SENTENCES) == set(STOP_REASONS) == set(EXIT_CODES)


def test_only_failures_have_no_stop_reason() -> None:
    assert {reason for reason, stop in STOP_REASONS.items() if stop is None} == FAILURES
    assert {reason for reason, stop in STOP_REASONS.items() if stop == "end_turn"} == {
        "done",
        "denied",
        "input_required",
    }
    assert [reason for reason, stop in STOP_REASONS.items() if stop == "cancelled"] == ["cancelled"]
    assert {reason for reason, code in EXIT_CODES.items() if code == 0} == {"done"}


def test_every_reason_but_done_has_a_message_and_failures_have_a_code() -> None:
    for reason in REASONS:
        ending = make_ending(reason)
        assert ending.sentence.endswith(".") is (reason != "done")
        assert bool(ending.error_code) is (reason not in ("done", "cancelled", "input_required"))
        assert make_ending(reason, "Closer.", "code") == type(ending)(reason, "Closer.", "code")


def test_endings_that_reach_an_editor_as_a_bare_stop_reason_get_a_message() -> None:
    bare = {reason for reason, stop in STOP_REASONS.items() if stop not in (None, "end_turn", "cancelled")}
    assert bare == TOLD


@pytest.mark.parametrize("reason", sorted(FAILURES))
def test_the_draft_protocol_reports_a_failure_as_an_error_with_its_message(reason: ExitReason) -> None:
    ending = make_ending(reason)
    event = TurnEnded("turn_1", ending.reason, ending.sentence, ending.error_code)
    (update,) = UpdateStream("/project").tell(event)
    assert isinstance(update, v2.SessionUpdateIdleStateUpdate)
    assert isinstance(update.error, v2.Error)
    assert (update.stop_reason, update.error.message) == ("error", ending.sentence)
    assert update.error.code == failure_code(event)
