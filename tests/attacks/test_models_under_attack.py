"""A model, or an impostor, that fails, floods or sends nonsense."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest

from tests.attacks.attack_checks import AT_ONCE, attacked_agent, ends_of, result_of
from tests.e2e.raw_editor import outcome_text, prompt_params
from tests.model_server import Fault, Reply, ToolCall

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]

MAX_ATTEMPTS = 6
FAULTS: dict[str, Reply] = {
    **{
        f"status {status}": Reply(fault=Fault(status=status))
        for status in (400, 401, 403, 404, 413, 429, 500, 503, 529)
    },
    "retry after an hour": Reply(fault=Fault(status=429, retry_after_s=3600)),
    "retry after never": Reply(fault=Fault(status=429, headers={"retry-after": "99999999999999999999"})),
    "retry after nonsense": Reply(fault=Fault(status=503, headers={"retry-after": "-1, soon"})),
    "a page of HTML": Reply(fault=Fault(status=502, raw_body="<html>" + "x" * 100_000)),
    "an error of no shape": Reply(fault=Fault(status=500, raw_body="[[[[[")),
    "half an event": Reply(("one ", "two"), fault=Fault(cut_after=1)),
    "a reset": Reply(("one ", "two"), fault=Fault(cut_after=1, reset=True)),
    "an end without an end": Reply(("one ", "two"), fault=Fault(end_after=1)),
    "an error in the stream": Reply(("one ", "two"), fault=Fault(error_after=1)),
    "bytes that are no event": Reply(
        ("one ", "two"), fault=Fault(malformed_after=1, malformed="data: {{{\n\n")
    ),
    "deep bytes": Reply(
        ("one ", "two"), fault=Fault(malformed_after=1, malformed=f"data: {'[' * 100_000}\n\n")
    ),
    "wrong types": Reply(
        ("one ", "two"), fault=Fault(malformed_after=1, malformed='data: {"choices": 7}\n\n')
    ),
    "a number without end": Reply(
        "one", fault=Fault(malformed_after=0, malformed='data: {"usage": {"total_tokens": 1e999999}}\n\n')
    ),
    "a line of ten megabytes": Reply(
        "one", fault=Fault(malformed_after=0, malformed=f'data: {{"x": "{"y" * (10 << 20)}"}}\n\n')
    ),
    "nothing at all": Reply(""),
    "an unknown reason to stop": Reply("one", finish="because"),
}


async def test_e15_every_fault_of_a_model_in_one_session(tmp_path: Path) -> None:
    """Each fault repeats: the turn has a named ending after a limited number of attempts, and the session continues."""
    async with attacked_agent(tmp_path, settings=AT_ONCE) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        for name, fault in FAULTS.items():
            before = len(siege.server.requests)
            siege.model.learn(f"<{name}>", *[fault] * 20)
            reply = await agent.prompt(session_id, f"<{name}>")
            assert "result" in reply or reply["error"]["message"], (name, reply)
            assert len(json.dumps(reply)) < 20_000, name
            assert len(siege.server.requests) - before <= MAX_ATTEMPTS, name
        await siege.check_prompt(session_id)


async def test_e15_an_hour_long_delay_can_be_cancelled(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("slow down", *[Reply(fault=Fault(status=429, retry_after_s=200))] * 5)
        prompt = await agent.begin_prompt(session_id, "slow down")
        with anyio.fail_after(30):
            await siege.server.wait_for_request(1)
        await agent.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}})
        reply = await agent.wait_for(lambda m: m.get("id") == prompt and "method" not in m)
        assert reply.get("result") == {"stopReason": "cancelled"} or "error" in reply


NONSENSE = (
    ToolCall("read_file", '{"path": '),
    ToolCall("read_file", "[" * 50_000),
    ToolCall("read_file", '{"path": NaN}'),
    ToolCall("read_file", '{"path": "a.txt", "path": "/etc/passwd"}'),
    ToolCall("read_file", '{"path": "\\ud800"}'),
    ToolCall("read_file", '{"path": "a.txt", "offset": 1e999}'),
    ToolCall("read_file", '{"path": "a.txt", "offset": ' + "9" * 5_000 + "}"),
    ToolCall("terminal", {"command": ""}),
    ToolCall("terminal", {"command": "echo a\0b"}),
    ToolCall("terminal", '{"command": "echo \\ud800"}'),
    ToolCall("terminal", {"command": "true", "timeout_s": -1}),
    ToolCall("search", {"pattern": "(" * 5_000}),
    ToolCall("search", {"pattern": "(a{1000}){1000}{1000}"}),
    ToolCall("read_file", {"path": "a" * 1_000_000}),
    ToolCall("../../bin/sh", {"command": "id"}),
    ToolCall("__class__", {}),
)


async def test_e15_invalid_calls(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={}) as siege:  # None of these calls needs approval.
        (siege.workspace / "a.txt").write_text("fine")
        ends = await siege.turn(Reply(tool_calls=NONSENSE))
        assert len(ends) == len(NONSENSE)
        for call, end in zip(NONSENSE, ends, strict=True):
            assert end["status"] == "failed", (call.name, str(call.arguments)[:80], result_of(end)[:200])
            assert "root:" not in result_of(end)


async def test_e15_a_megabyte_long_name_and_one_id_for_all(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        (siege.workspace / "a.txt").write_text("fine")
        twins = (ToolCall("read_file", {"path": "a.txt"}, id="same"), ToolCall("list_files", {}, id="same"))
        ends = await siege.turn(Reply(tool_calls=twins))
        assert [end["status"] for end in ends] == ["completed", "completed"]
        assert len({end["toolCallId"] for end in ends}) == 2
        session_id = await siege.agent.open_session(siege.workspace)
        siege.model.learn("long name", Reply(tool_calls=(ToolCall("n" * 1_000_000, {}),)))
        reply = await siege.agent.prompt(session_id, "long name")
        assert "result" in reply or len(reply["error"]["message"]) < 10_000
        await siege.check_prompt(session_id)


@pytest.mark.slow
async def test_e15_a_thousand_calls_at_once(tmp_path: Path) -> None:
    calls = tuple(ToolCall("read_file", {"path": f"f{number}"}) for number in range(1_000))
    async with attacked_agent(tmp_path) as siege:
        (siege.workspace / "f7").write_text("seven")
        ends = await siege.turn(Reply(tool_calls=calls))
        assert len(ends) == len({end["toolCallId"] for end in ends}) == 1_000
        assert "seven" in outcome_text(ends[7])


async def test_e15_endless_text(tmp_path: Path) -> None:
    endless = Reply("word " * 400_000, deltas=2_000)
    async with attacked_agent(tmp_path) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("talk", *[endless] * 3)
        await agent.prompt(session_id, "talk")
        await siege.check_prompt(session_id)


async def test_e15_a_model_that_never_stops_calling(tmp_path: Path) -> None:
    """The step budget or the loop guard ends it; the turn says so."""
    again = [Reply(tool_calls=(ToolCall("read_file", {"path": f"none{number}"}),)) for number in range(60)]
    async with attacked_agent(tmp_path, settings="budget:\n  max_steps: 12\n  max_refunds: 3\n") as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        siege.model.learn("forever", *again)
        reply = await siege.agent.call("session/prompt", prompt_params(session_id, "forever"))
        assert "error" in reply or reply["result"]["stopReason"] in ("max_turn_requests", "end_turn"), reply
        assert len(siege.server.requests) <= 20
        assert len(ends_of(siege.agent.updates(session_id=session_id))) <= 20
