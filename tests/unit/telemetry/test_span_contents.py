"""The contents of spans, for users who export them: what each request sent and returned, masked and limited."""

import json
from collections.abc import Iterable
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

from hermes_acp.core.events import (
    CallEnded,
    Event,
    HistoryCompacted,
    NoteAdded,
    PromptFrozen,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import ImagePart, ResourcePart, TextPart, ToolCall
from hermes_acp.core.record.session_record import Record
from hermes_acp.telemetry.traces import conventions as names
from hermes_acp.telemetry.traces.message_contents import MAX_INPUT_BYTES
from hermes_acp.telemetry.traces.otel_export import MAX_BATCH, MAX_BATCH_CHARACTERS, batches_of
from hermes_acp.telemetry.traces.session_spans import SessionSpans
from hermes_acp.telemetry.traces.spans import FinishedSpan

CONTENTS = {names.SYSTEM, names.INPUT, names.OUTPUT, names.TOOL_ARGUMENTS, names.TOOL_RESULT, names.LEFT_OUT}
LOOK = ToolCall("c1", "read_file", '{"path":"a.py"}')
TURN: tuple[Event, ...] = (
    PromptFrozen(("You are an agent.",)),
    TurnStarted("t"),
    UserSaid("m1", (TextPart("Look at"), ResourcePart("file:///a.py", "tiger = 1"), ImagePart("image/png", "AAAA"))),
    TextSaid("m2", "I look"),
    TextSaid("m2", "."),
    StepEnded("m2", (LOOK,), provider="acme", model="large"),
    CallEnded("c1", "read_file", "completed", "tiger = 1"),
    NoteAdded("Time is short."),
    TextSaid("m3", "It is a tiger."),
    StepEnded("m3", provider="acme", model="large"),
    TurnEnded("t", "done"),
)  # fmt: skip


def masked(text: str) -> str:
    return text.replace("tiger", "[secret]")


def folded(
    events: Iterable[Event], *, with_contents: bool = True, record: Record | None = None
) -> list[FinishedSpan]:
    """Return the spans of some events; a record gets each event first, as in a live session."""
    spans = SessionSpans("ses", "1", masked, with_contents=with_contents, record=record)
    found: list[FinishedSpan] = []
    for at, event in enumerate(events):
        if record:
            record.apply(event)
        found += spans.after(event, float(at))
    return found


def messages(span: FinishedSpan, name: str) -> Any:
    return json.loads(str(span.attributes[name]))


def text(words: str) -> dict[str, str]:
    return {"type": "text", "content": words}


def test_each_request_has_its_input_and_output() -> None:
    first, call, second, turn = folded(TURN)
    said = [text("Look at"), text("file:///a.py\n[secret] = 1"), text("[image/png, not exported]")]
    wanted = {"type": "tool_call", "id": "c1", "name": "read_file", "arguments": '{"path":"a.py"}'}
    answered = {"role": "assistant", "parts": [text("I look."), wanted]}
    outcome = {"type": "tool_call_response", "id": "c1", "response": "[secret] = 1"}
    assert messages(first, names.INPUT) == [{"role": "user", "parts": said}]
    assert messages(first, names.OUTPUT) == [answered | {"finish_reason": "tool_call"}]
    assert messages(second, names.INPUT) == [
        {"role": "user", "parts": said},
        answered,
        {"role": "tool", "parts": [outcome]},
        {"role": "user", "parts": [text("Time is short.")]},
    ]
    last = {"role": "assistant", "parts": [text("It is a [secret].")], "finish_reason": "stop"}
    assert messages(second, names.OUTPUT) == messages(turn, names.OUTPUT) == [last]
    assert messages(turn, names.INPUT) == [{"role": "user", "parts": said}]
    assert messages(turn, names.SYSTEM) == [text("You are an agent.")]
    assert call.attributes[names.TOOL_RESULT] == "[secret] = 1"
    assert not any("tiger" in str(span.attributes) for span in (first, call, second, turn))


def test_a_live_session_exports_the_same_as_its_record() -> None:
    assert folded(TURN, record=Record()) == folded(TURN)


def test_a_resumed_session_exports_the_earlier_messages() -> None:
    record = Record()
    for event in TURN:
        record.apply(event)
    more = (TurnStarted("u"), UserSaid("m4", (TextPart("And?"),)), TextSaid("m5", "So."), StepEnded("m5"))
    (chat,) = folded(more, record=record)
    assert len(messages(chat, names.INPUT)) == 6


def test_nothing_is_exported_unless_enabled() -> None:
    spans = folded(TURN, with_contents=False, record=Record())
    assert [CONTENTS & span.attributes.keys() for span in spans] == [set()] * 4


def test_the_oldest_messages_are_omitted_beyond_the_limit() -> None:
    events: list[Event] = [TurnStarted("t"), UserSaid("m", (TextPart("begin"),))]
    for step in range(40):
        call = ToolCall(f"c{step}", "read_file", "{}")
        result = CallEnded(call.id, "read_file", "completed", f"{step}" + "x" * 5000)
        events += [StepEnded(f"s{step}", (call,), provider="acme"), result]
    events += [TextSaid("l", "Done."), StepEnded("l", provider="acme")]
    *_, chat = folded(events)
    sent = messages(chat, names.INPUT)
    assert len(str(chat.attributes[names.INPUT])) <= MAX_INPUT_BYTES + 100
    assert sent[-1]["parts"][0]["response"].startswith("39x")
    assert chat.attributes[names.LEFT_OUT] == 81 - len(sent) > 0
    huge = (TurnStarted("t"), UserSaid("m", (TextPart("y" * 100_000),)), StepEnded("s", provider="acme"))
    (single,) = folded(huge)
    (message,) = messages(single, names.INPUT)
    assert len(message["parts"][0]["content"]) < 33_000
    assert names.LEFT_OUT not in single.attributes


def test_failed_requests_and_summaries_have_contents() -> None:
    retried, failed, compacted, turn = folded(
        (
            TurnStarted("t"),
            UserSaid("m", (TextPart("Hi"),)),
            TextSaid("s", "Half a tig"),
            StepFailed("s", "lost", True, "acme"),
            TextSaid("s", "Half an ans"),
            StepFailed("s", "lost", False, "acme"),
            HistoryCompacted("c", "They greeted.", 2, provider="acme"),
            TurnEnded("t", "model_trouble"),
        )
    )
    hello = [{"role": "user", "parts": [text("Hi")]}]
    assert messages(retried, names.INPUT) == messages(failed, names.INPUT) == hello
    half = [{"role": "assistant", "parts": [text("Half an ans")], "finish_reason": "error"}]
    assert messages(failed, names.OUTPUT) == half
    assert messages(compacted, names.OUTPUT)[0]["parts"] == [text("They greeted.")]
    assert messages(turn, names.OUTPUT)[0]["finish_reason"] == "model_trouble"


def test_a_long_session_is_sent_in_requests_that_collectors_accept() -> None:
    spans = [
        ReadableSpan(f"{n}", attributes={"a": "x" * size})
        for n, size in enumerate([10] * 600 + [1_000_000] * 9)
    ]
    batches = list(batches_of([*spans, ReadableSpan("huge", attributes={"a": "x" * 9_000_000})]))
    assert [span.name for batch in batches for span in batch] == [*map(str, range(609)), "huge"]
    sizes = [sum(len(str((span.attributes or {})["a"])) for span in batch) for batch in batches]
    assert max(sizes[:-1]) <= MAX_BATCH_CHARACTERS
    assert max(map(len, batches)) == MAX_BATCH
    assert len(batches[-1]) == 1
