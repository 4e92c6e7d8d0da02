"""Cuts that compaction makes when a history must become shorter."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.compaction.compaction_cuts import LARGE_OUTCOME_CHARACTERS, HistoryBudget, find_cut
from hermes_acp.core.messages import AssistantMessage, Message, TextPart, ToolCall, ToolMessage, UserMessage
from hermes_acp.core.record.compacted_history import apply_compaction, shifted_position
from hermes_acp.core.record.history_invariants import (
    invariant_violations,
    last_exchange_index,
    last_prompt_index,
)
from hermes_acp.core.token_estimates import estimate_tokens
from tests.unit.core.histories import histories

ROOMS = st.builds(
    HistoryBudget,
    kept=st.integers(0, 2_000),
    max_fresh=st.integers(0, 3_000),
    target=st.none() | st.integers(0, 2_000),
    min_saved=st.integers(0, 300),
)
SUMMARY = "What was before."


def shortened(messages: list[Message], room: HistoryBudget) -> list[Message] | None:
    """Return the history after the compaction that the remaining room requires; None if there is none."""
    cut = find_cut(messages, room)
    return apply_compaction(messages, cut.made("c", SUMMARY if cut.replaced else "")) if cut else None


@given(histories(), ROOMS)
def test_every_invariant_holds_after_a_cut(messages: list[Message], room: HistoryBudget) -> None:
    assert invariant_violations(shortened(messages, room) or messages) == []


@given(histories(), ROOMS)
def test_the_users_last_message_is_unchanged(messages: list[Message], room: HistoryBudget) -> None:
    after = shortened(messages, room) or messages
    before_place, place = last_prompt_index(messages), last_prompt_index(after)
    assert (before_place is None) == (place is None)
    if before_place is not None and place is not None:
        assert after[place] is messages[before_place]


@given(histories(), ROOMS)
def test_answers_keep_their_thoughts_and_signatures_or_are_dropped(
    messages: list[Message], room: HistoryBudget
) -> None:
    known = {id(message) for message in messages}
    after = shortened(messages, room) or messages
    assert all(id(message) in known for message in after if isinstance(message, AssistantMessage))


@given(histories(), ROOMS)
def test_unanswered_messages_are_kept(messages: list[Message], room: HistoryBudget) -> None:
    after = shortened(messages, room) or messages
    fresh, before = after[last_exchange_index(after) :], messages[last_exchange_index(messages) :]
    assert [type(message) for message in fresh[-len(before) :] if before] == [
        type(message) for message in before
    ]
    for new, old in zip(reversed(fresh), reversed(before), strict=False):
        assert new is old or isinstance(old, ToolMessage)


@given(histories(), ROOMS)
def test_a_short_history_is_unchanged(messages: list[Message], room: HistoryBudget) -> None:
    once = shortened(messages, room)
    if once is not None and (cut := find_cut(once, room)):
        # Only outcomes were cut, which is the cheap first stage; a summary may follow.
        assert estimate_tokens(apply_compaction(once, cut.made("c", ""))) <= estimate_tokens(once)
        twice = shortened(once, room)
        assert twice is not None
        assert shortened(twice, room) is None


@given(histories(), ROOMS, st.data())
def test_positions_move_with_their_messages(
    messages: list[Message], room: HistoryBudget, data: st.DataObject
) -> None:
    if cut := find_cut(messages, room):
        event = cut.made("c", SUMMARY if cut.replaced else "")
        after = apply_compaction(messages, event)
        place = data.draw(st.integers(0, len(messages) - 1))
        if place >= cut.replaced and not isinstance(messages[place], ToolMessage):
            assert after[shifted_position(place, event)] is messages[place]
        assert shifted_position(len(messages), event) == len(after)


def say(text: str) -> UserMessage:
    return UserMessage((TextPart(text),))


def step(name: str, *outcomes: str) -> list[Message]:
    ids = [f"{name}{number}" for number in range(len(outcomes))]
    calls = tuple(ToolCall(call_id, "tool", "{}") for call_id in ids)
    results = [ToolMessage(call_id, "tool", text) for call_id, text in zip(ids, outcomes, strict=True)]
    return [AssistantMessage("", (), calls), *results]


BIG = "o" * (4 * LARGE_OUTCOME_CHARACTERS)


def test_old_outputs_are_cut_if_that_is_enough() -> None:
    messages = [say("go"), *step("a", BIG, "small"), *step("b", BIG)]
    after = shortened(messages, HistoryBudget(kept=100, max_fresh=10_000, target=3_000))
    assert after is not None
    texts = [message.text for message in after if isinstance(message, ToolMessage)]
    assert len(texts[0]) < 600
    assert texts[1:] == ["small", BIG]


def test_a_recent_output_that_leaves_no_room_is_cut_too() -> None:
    messages = [say("go"), *step("a", BIG, "small")]
    assert shortened(messages, HistoryBudget(kept=100, max_fresh=10_000)) is None
    after = shortened(messages, HistoryBudget(kept=100, max_fresh=1_000))
    assert after is not None
    assert estimate_tokens(after) <= 1_100
    assert after[-1] == messages[-1]


def test_a_summary_alone_is_not_summarised_again() -> None:
    messages = [say("go"), *step("a", "out"), AssistantMessage("x" * 400), say("y" * 4_000)]
    room = HistoryBudget(kept=50, max_fresh=100, min_saved=1)
    once = shortened(messages, room)
    assert once is not None
    assert [type(message) for message in once] == [UserMessage, UserMessage]
    assert shortened(once, room) is None
