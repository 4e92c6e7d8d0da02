"""A card's history in `hermes-acp board show`."""

from typing import get_args

import pytest

from hermes_acp.core.ports.boards.card_events import (
    AttemptNoted,
    AttemptStarted,
    BranchNoted,
    CardAdded,
    CardAnswered,
    CardCommented,
    CardEdited,
    CardEvent,
    CardLinked,
    CardMoved,
    CardRemoved,
    CardRestored,
    CardUnlinked,
    LogEntry,
)
from hermes_acp.core.ports.boards.cards import Actor, Attempt, CardWork, Link, Spending
from hermes_acp.frontends.cli.board.card_history import history_line

LINES: dict[CardEvent, str] = {
    CardAdded("1", "Fix it"): "added 'Fix it' to inbox",
    CardEdited("1", title="Fix that", work=CardWork()): "changed title, settings",
    CardMoved("1", "input_required"): "moved to waiting for you",
    CardMoved("1", "parked", "The run\nfailed."): "moved to parked: The run failed.",
    CardCommented("1", "Look  here"): "commented: Look here",
    CardLinked("1", Link("blocks", "2")): "linked: it blocks 2",
    CardUnlinked("1", Link("found_in", "3")): "no longer linked: it was found in 3",
    CardAnswered("1", "allow_once"): "answered allow once",
    CardAnswered("1", "reject_once", "not now"): "answered reject once: not now",
    AttemptStarted("1", Attempt(2, "ses_1", run_id="run_1")): "attempt 2 started as run_1",
    AttemptStarted("1", Attempt(1, "ses_1")): "attempt 1 started in a session",
    AttemptNoted("1", 1, Spending(1200, 0.05)): "attempt 1 has used 1,200 tokens, $0.0500",
    AttemptNoted("1", 1, Spending(1200, 0.0), is_open=False): "attempt 1 ended after 1,200 tokens",
    BranchNoted("1", "/w", "card-1"): "works on the branch card-1 in /w",
    BranchNoted("1", "/w"): "works in /w",
    CardRemoved("1"): "removed the card",
    CardRestored("1"): "restored the card",
}


@pytest.mark.parametrize(("event", "line"), LINES.items())
def test_a_change_is_described_in_words(event: CardEvent, line: str) -> None:
    entry = LogEntry(1, 0.0, Actor("person", "anna"), event)
    assert history_line(entry).endswith(f"  anna  {line}")


def test_every_kind_of_change_has_a_description() -> None:
    without = {kind.__name__ for kind in get_args(CardEvent)} - {type(event).__name__ for event in LINES}
    assert without == {"BoardChanged", "UnknownEntry"}
