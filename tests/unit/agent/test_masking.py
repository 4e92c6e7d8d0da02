"""Secrets in events are masked before anything is recorded."""

import random

import pytest

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.secret_masking import MASKED
from hermes_acp.core.event_types import Diff
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CommandAnswered,
    Event,
    InstructionsGiven,
    Noticed,
    TitleChanged,
    UserSaid,
)
from hermes_acp.core.messages import ImagePart, LinkPart, ResourcePart, TextPart
from hermes_acp.core.record.session_record import Record
from hermes_acp.telemetry.redaction import Redactor
from tests.unit.agent.turns import MemoryJournal
from tests.unit.telemetry import secret_samples as samples

TOKEN = dict(samples.tokens(random.Random(61)))["github token"]
DIFF = Diff("/w/a.py", f"a = '{TOKEN}'\n", f"b = '{TOKEN}'\n")
EVENTS: tuple[Event, ...] = (
    UserSaid("m1", (TextPart(f"use {TOKEN}"),)),
    UserSaid("m1", (ResourcePart("file:///a", f"token = {TOKEN}"),)),
    UserSaid("m1", (LinkPart(f"https://me:{TOKEN}@example.com/", "x"),)),
    CommandAnswered("m1", f"/title {TOKEN}", f"There is no {TOKEN}."),
    TitleChanged(f"Why is {TOKEN} refused"),
    InstructionsGiven(f"Sign in with {TOKEN}."),
    CallProposed("c1", "edit_file", "Edit", "edit", diffs=(DIFF,)),
    CallEnded("c1", "edit_file", "completed", "", diffs=(DIFF,), parts=(TextPart(TOKEN),)),
)


@pytest.mark.parametrize("event", EVENTS)
def test_no_key_is_recorded(event: Event) -> None:
    ledger = Ledger(MemoryJournal(), Record())
    recorded = ledger.emit(event)
    assert TOKEN not in repr(recorded)
    assert "[secret: github token]" in repr(recorded)


def test_known_secrets_are_masked_verbatim_once_the_session_knows_them() -> None:
    ledger = Ledger(MemoryJournal(), Record())
    ledger.redactor = Redactor(["an-own-key-of-no-shape"])
    assert "an-own-key" not in repr(ledger.emit(UserSaid("m1", (TextPart("an-own-key-of-no-shape"),))))


def test_the_user_is_notified_once_for_each_masked_message() -> None:
    journal = MemoryJournal()
    ledger = Ledger(journal, Record())
    ledger.emit(UserSaid("m1", (TextPart(f"use {TOKEN}"),)))
    ledger.emit(UserSaid("m2", (TextPart("nothing"), ImagePart("image/png", "AAAA"))))
    reported = [event for event in journal.events if event == Noticed("warning", MASKED)]
    assert len(reported) == 1


def test_events_without_secrets_are_returned_unchanged() -> None:
    ledger = Ledger(MemoryJournal(), Record())
    said = UserSaid("m2", (TextPart("Look at HEAD~2 of 3f2a91c8d7e6b5a4."), ImagePart("image/png", "AAAA")))
    assert ledger.emit(said) is said
