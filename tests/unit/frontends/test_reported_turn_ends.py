"""Reports about the end of a past turn, for clients that request it."""

import pytest

from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import TurnEnded
from hermes_acp.core.record.session_record import CUT_OFF
from hermes_acp.frontends.acp.v1.updates import UpdateView, to_updates
from hermes_protocol import v1

WANTED = UpdateView(is_replay=True, takes_turn_ends=True)


def reported(end: TurnEnded) -> object:
    (update,) = to_updates(end, WANTED)
    assert isinstance(update, v1.SessionInfoUpdate)
    assert isinstance(update.meta, dict)
    return update.meta["hermes"]["turnEnded"]


@pytest.mark.parametrize(
    ("reason", "wanted"), [("done", "end_turn"), ("cancelled", "cancelled"), ("model_trouble", "failed")]
)
def test_an_end_is_reported_like_the_original_answer(reason: ExitReason, wanted: str) -> None:
    assert reported(TurnEnded("t", reason, "So it is.")) == {
        "turnId": "t",
        "reason": wanted,
        "text": "So it is.",
    }


def test_a_turn_whose_process_ended_is_reported_as_such() -> None:
    said = reported(TurnEnded("t", "cancelled", "Gone.", CUT_OFF))
    assert said == {"turnId": "t", "reason": "cancelled", "text": "Gone.", "isCutOff": True}


@pytest.mark.parametrize("view", [UpdateView(), UpdateView(is_replay=True), UpdateView(takes_turn_ends=True)])
def test_other_clients_get_no_report(view: UpdateView) -> None:
    assert to_updates(TurnEnded("t", "done"), view) == ()
