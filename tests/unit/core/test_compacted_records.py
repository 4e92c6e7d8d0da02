"""Reading records with compactions, wherever they occur and wherever the session was cut off."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.compaction.compaction_cuts import HistoryBudget, find_cut
from hermes_acp.core.events import (
    CompactionFailed,
    CompactionStarted,
    Event,
    HistoryCompacted,
    StepEnded,
    StepFailed,
    SummarySaid,
    TextSaid,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    UserSaid,
)
from hermes_acp.core.messages import AssistantMessage, TextPart, Usage, UserMessage
from hermes_acp.core.record.history_invariants import invariant_violations
from hermes_acp.core.record.session_record import Record
from tests.unit.core.test_record_laws import closed, record_of, sessions

ROOM = HistoryBudget(kept=10, max_fresh=1_000)


@st.composite
def compacted_sessions(draw: st.DrawFn) -> list[Event]:
    """Generate a session with compactions before some of its steps, cut off anywhere."""
    events: list[Event] = []
    record = Record()
    plain = draw(sessions())
    for number, event in enumerate(plain):
        starts_step = isinstance(event, TextSaid) and not isinstance(plain[number - 1], TextSaid)
        rests = isinstance(event, TurnStarted)
        if (starts_step or rests) and draw(st.booleans()):
            for more in draw(compactions(record, f"compaction_{number}")):
                events.append(more)
                record.apply(more)
        events.append(event)
        record.apply(event)
    return events[: draw(st.integers(1, len(events)))]


@st.composite
def compactions(draw: st.DrawFn, record: Record, name: str) -> list[Event]:
    cut = find_cut(record.messages, ROOM)
    if cut is None:
        return []
    begun: list[Event] = [CompactionStarted(name, "window"), SummarySaid(name, "A summary.")]
    if draw(st.integers(0, 3)) == 0:
        return [*begun, CompactionFailed(name, "failed", "No.")]
    made = msgspec.structs.replace(
        cut.made(name, "A summary."), tokens_after=7, usage=Usage(5, 1), provider="p"
    )
    return [*begun, made, UsageChanged(7, 100)]


@given(compacted_sessions())
def test_calls_and_outcomes_stay_together(events: list[Event]) -> None:
    assert [
        breach
        for breach in invariant_violations(closed(events).messages)
        if "answer without a preceding prompt" not in breach
    ] == []


@given(compacted_sessions())
def test_a_record_read_back_equals_the_live_state(events: list[Event]) -> None:
    read = [msgspec.json.decode(msgspec.json.encode(event), type=Event) for event in events]
    lived, found = (
        {**vars(closed(each)), "sent": None} for each in (events, read)
    )  # Derived from the other fields.
    assert lived == found


@given(compacted_sessions())
def test_only_the_end_of_a_compaction_changes_the_history(events: list[Event]) -> None:
    record = Record()
    for event in events:
        before = list(record.messages)
        record.apply(event)
        if isinstance(event, CompactionStarted | SummarySaid | CompactionFailed):
            assert record.messages == before
        elif isinstance(event, HistoryCompacted):
            assert len(record.messages) <= len(before)
            assert record.usage.used_tokens == event.tokens_after
            assert record.measured_at == len(record.messages)


@given(compacted_sessions())
def test_a_turn_without_model_output_still_leaves_no_trace(events: list[Event]) -> None:
    record = Record()
    said: list[UserSaid] = []
    was_answered = False
    for event in events:
        record.apply(event)
        match event:
            case TurnStarted():
                said, was_answered = [], False
            case UserSaid():
                said.append(event)
            case TextSaid() | StepEnded():
                was_answered = True
            case TurnEnded() if not was_answered:
                kept = [message.parts for message in record.messages if isinstance(message, UserMessage)]
                assert not any(words.parts in kept for words in said)
            case _:
                pass


@given(compacted_sessions())
def test_a_killed_process_leaves_the_history_and_an_ending(events: list[Event]) -> None:
    record = record_of(events)
    before = list(record.messages)
    ends = record.closing_events()
    assert [end for end in ends if isinstance(end, CompactionFailed)] == (
        [ends[0]] if record.open_compaction else []
    )
    if record.open_compaction and not record.open_turn:
        record.apply(ends[0])
        assert record.messages == before
        assert record.open_compaction == ""


def test_a_turn_continues_after_a_compaction_with_the_text_it_had() -> None:
    said = UserSaid("u", (TextPart("go"),))
    record = record_of([TurnStarted("t"), said, TextSaid("m", "Hm.")])
    record.apply(StepFailed("m", "cut", retried=False))
    record.apply(TurnEnded("t", "done"))
    for event in (TurnStarted("t2"), said):
        record.apply(event)
    record.apply(HistoryCompacted("c", "A summary.", 2, (0,)))
    assert [type(message) for message in record.messages] == [UserMessage, UserMessage, UserMessage]
    record.apply(TurnEnded("t2", "model_trouble"))
    assert [type(message) for message in record.messages] == [UserMessage, UserMessage]
    record.apply(TurnStarted("t3", goes_on=True))
    assert record.messages[-1] == UserMessage((TextPart("go"),))
    assert not any(isinstance(message, AssistantMessage) for message in record.messages)
