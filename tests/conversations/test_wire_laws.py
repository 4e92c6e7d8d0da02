"""The laws notice what breaks them."""

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
CLOSED = update("tool_call_update", toolCallId="c", status="completed")
ASKED: Json = {
    "jsonrpc": "2.0",
    "id": 9,
    "method": "terminal/create",
    "params": {"sessionId": "s", "command": "x"},
}

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
    "another JSON-RPC": ([NEW], [{**BEGUN, "jsonrpc": "1.0"}], "not JSON-RPC"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_law_is_noticed(name: str) -> None:
    sent, received, words = BROKEN[name]
    laws = WireLaws()
    for frame in sent:
        laws.watch_sent(frame)
    for frame in received:
        laws.watch_received(frame)
    assert words in " ".join(laws.faults)


def test_a_lawful_turn_has_no_faults() -> None:
    laws = WireLaws()
    laws.watch_sent(NEW)
    laws.watch_received(BEGUN)
    laws.watch_sent(PROMPT)
    for frame in (CARD, CLOSED, WORDS, ENDED):
        laws.watch_received(frame)
    assert laws.faults == []
