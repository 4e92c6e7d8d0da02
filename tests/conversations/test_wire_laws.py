"""The wire rules detect violations."""

import pytest

from tests.conversations.wire_laws import Json, WireLaws

NEW: Json = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}
BEGUN: Json = {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}
PROMPT: Json = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "session/prompt",
    "params": {"sessionId": "s", "prompt": []},
}
ENDED: Json = {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}


def update(kind: str, **more: object) -> Json:
    params = {"sessionId": "s", "update": {"sessionUpdate": kind, **more}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


WORDS = update("agent_message_chunk", content={"type": "text", "text": "a"})
CARD = update("tool_call", toolCallId="c", title="t", status="pending")
AT_WORK = update("tool_call_update", toolCallId="c", status="in_progress")
CLOSED = update("tool_call_update", toolCallId="c", status="completed", rawOutput={"text": ""})
ASKED: Json = {
    "jsonrpc": "2.0",
    "id": 9,
    "method": "terminal/create",
    "params": {"sessionId": "s", "command": "x"},
}


def failed(code: int, name: object = None) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "m", "data": {"code": name}}}


BROKEN: dict[str, tuple[list[Json], list[Json], str]] = {
    "an update before the session": ([NEW], [WORDS], "before its session"),
    "an update after the turn": ([NEW, PROMPT], [BEGUN, ENDED, WORDS], "nothing of it was asked for"),
    "a card left open": ([NEW, PROMPT], [BEGUN, CARD, ENDED], "was left pending"),
    "a card never shown": ([NEW, PROMPT], [BEGUN, CLOSED], "never shown"),
    "a card that goes on after its end": ([NEW, PROMPT], [BEGUN, CARD, CLOSED, CLOSED], "after its end"),
    "a terminal not announced": ([NEW, PROMPT], [BEGUN, ASKED], "never announced"),
    "a result of the wrong shape": ([NEW], [{**BEGUN, "result": {}}], "sessionId"),
    "an unknown stop reason": ([PROMPT], [{**ENDED, "result": {"stopReason": "tired"}}], "tired"),
    "an answer to nothing": ([], [BEGUN], "an answer to nothing"),
    "an error without a name": ([NEW], [failed(-32603)], "without a stable name"),
    "an error whose name is none": ([NEW], [failed(-32603, "Oh no!")], "without a stable name"),
    "an error about no session in particular": ([NEW], [failed(-32002, "not_found")], "not named"),
    "another JSON-RPC": ([NEW], [{**BEGUN, "jsonrpc": "1.0"}], "not JSON-RPC"),
}

BEGINS = update("compaction_update", compactionId="k", status="in_progress")
SUMMARY = update("compaction_summary_chunk", compactionId="k", content={"type": "text", "text": "a"})
DONE = update("compaction_update", compactionId="k", status="completed", summary=[])
BROKEN_COMPACTIONS: dict[str, tuple[list[Json], str]] = {
    "one left open": ([BEGINS, ENDED], "was left in_progress"),
    "one that goes on after its end": ([BEGINS, DONE, SUMMARY], "after its end"),
    "words before its beginning": ([SUMMARY], "has not begun"),
    "an error without a failure": (
        [update("compaction_update", compactionId="k", status="cancelled", error="no")],
        "has an error and is cancelled",
    ),
}


@pytest.mark.parametrize("name", BROKEN_COMPACTIONS)
def test_a_broken_rule_for_compactions_is_detected(name: str) -> None:
    received, words = BROKEN_COMPACTIONS[name]
    laws = WireLaws()
    laws.capabilities = {"session": {"compaction": {}}}
    for frame in (NEW, PROMPT):
        laws.watch_sent(frame)
    for frame in (BEGUN, *received):
        laws.watch_received(frame)
    assert words in " ".join(laws.faults)


def test_compactions_are_for_clients_that_support_them() -> None:
    laws = WireLaws()
    for frame in (NEW, PROMPT):
        laws.watch_sent(frame)
    for frame in (BEGUN, BEGINS, SUMMARY, DONE, ENDED):
        laws.watch_received(frame)
    assert len(laws.faults) == 3
    assert all("does not take compactions" in fault for fault in laws.faults)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_detected(name: str) -> None:
    sent, received, words = BROKEN[name]
    laws = WireLaws()
    for frame in sent:
        laws.watch_sent(frame)
    for frame in received:
        laws.watch_received(frame)
    assert words in " ".join(laws.faults)


def test_a_valid_turn_has_no_violations() -> None:
    laws = WireLaws()
    laws.watch_sent(NEW)
    laws.watch_received(BEGUN)
    laws.watch_sent(PROMPT)
    for frame in (CARD, AT_WORK, CLOSED, WORDS, ENDED):
        laws.watch_received(frame)
    assert laws.faults == []
