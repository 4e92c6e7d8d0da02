"""Attacks on turns: floods of cancels and prompts, editors that lie, hang, stop or go (rows E07 to E09, E12, E14).

Knows: raw frames, signals. Does not know: how a turn is run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.attacks.oracle import ALLOW, MOST_RSS_BYTES, Siege, besieged, ends_of, peak_rss_bytes, told
from tests.e2e.agent_process import SLEEPER, WAIT_S, pid_in, wait_for_end, watch_process
from tests.e2e.raw_editor import Message, RawEditor, permit, prompt_params
from tests.model_server import Hold, Reply, ToolCall

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]

MANY_CANCELS = 10_000
SLEEP = Reply(tool_calls=(ToolCall("terminal", {"command": SLEEPER}),))
EVERYTHING = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
}


def cancel_frame(session_id: object) -> bytes:
    frame = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}}
    return json.dumps(frame).encode() + b"\n"


def is_question(message: Message) -> bool:
    return message.get("method") == "session/request_permission"


async def reply_to(agent: RawEditor, call_id: object) -> Message:
    return await agent.wait_for(lambda m: "method" not in m and m.get("id") == call_id)


async def test_e07_ten_thousand_cancels_wherever_a_turn_stands(tmp_path: Path) -> None:
    async with besieged(tmp_path, answers={}) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        flood = cancel_frame(session_id) * MANY_CANCELS
        await agent.send_bytes(flood)  # before any prompt
        for unknown in ("ses_unknown", "", 7, None, ["x"]):
            await agent.send_bytes(cancel_frame(unknown))
        await siege.check_prompt(session_id)

        siege.model.learn("stream", Reply(("one ", "two"), holds=(Hold(anyio.Event(), after=1),)))
        siege.model.learn("question", SLEEP)
        waits = {
            "stream": lambda m: "agent_message_chunk" in json.dumps(m) and "one" in json.dumps(m),
            "question": is_question,
        }
        for words, is_reached in waits.items():
            seen = len(agent.messages)
            prompt = await agent.begin_prompt(session_id, words)
            await agent.wait_for(is_reached, behind=seen)
            await agent.send_bytes(flood)
            assert (await reply_to(agent, prompt))["result"] == {"stopReason": "cancelled"}, words
            await siege.check_prompt(session_id)
        prompt = await agent.begin_prompt(session_id, "stream")
        await agent.send_bytes(flood)
        assert (await reply_to(agent, prompt))["result"] == {"stopReason": "cancelled"}
        answers = [m for m in agent.messages if m.get("result") == {"stopReason": "cancelled"}]
        assert len(answers) == 3


async def test_e07_a_cancel_kills_the_command_and_all_it_started(tmp_path: Path) -> None:
    stubborn = "trap '' TERM INT HUP; sleep 300 & setsid sleep 300 & " + SLEEPER.replace("exec ", "")
    async with besieged(tmp_path) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("run", Reply(tool_calls=(ToolCall("terminal", {"command": stubborn}),)))
        prompt = await agent.begin_prompt(session_id, "run")
        shown = await agent.wait_for_update(lambda u: "pid " in json.dumps(u.get("content", "")))
        child = watch_process(pid_in(json.dumps(shown["content"])))
        await agent.send_bytes(cancel_frame(session_id) * 100)
        assert (await reply_to(agent, prompt))["result"] == {"stopReason": "cancelled"}
        await wait_for_end(child)
        (end,) = ends_of(agent.updates(session_id=session_id))
        assert end["status"] == "failed"
        await siege.check_prompt(session_id)


async def test_e08_a_storm_of_sessions_and_prompts(tmp_path: Path) -> None:
    async with besieged(tmp_path) as siege:
        agent = siege.agent
        begun = [
            await agent.begin("session/new", {"cwd": str(siege.workspace), "mcpServers": []})
            for _ in range(200)
        ]
        opened = [(await reply_to(agent, call_id))["result"]["sessionId"] for call_id in begun]
        assert len(set(opened)) == 200
        prompts = [await agent.begin_prompt(session_id, "hello") for session_id in opened]
        for prompt in prompts:
            assert (await reply_to(agent, prompt))["result"] == {"stopReason": "end_turn"}
        assert {agent.said(session_id) for session_id in opened} == {"Still here."}


async def test_e08_a_busy_session_is_prompted_loaded_moved_and_closed(tmp_path: Path) -> None:
    gate = anyio.Event()
    async with besieged(tmp_path) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("slow", Reply(("one ", "two"), holds=(Hold(gate, after=1),)))
        first = await agent.begin_prompt(session_id, "slow")
        await agent.wait_for(lambda _: "one" in agent.said(session_id))
        more = [await agent.begin_prompt(session_id, f"next {number}") for number in range(20)]
        here = {"sessionId": session_id, "cwd": str(siege.workspace), "mcpServers": []}
        loads = [await agent.begin("session/load", here) for _ in range(5)]
        mode = await agent.call("session/set_mode", {"sessionId": session_id, "modeId": "plan"})
        assert "result" in mode
        gate.set()
        for call_id in (first, *more, *loads):
            reply = await reply_to(agent, call_id)
            assert "result" in reply or reply["error"]["code"] in (-32600, -32602), reply
        assert (await reply_to(agent, first))["result"] == {"stopReason": "end_turn"}
        prompt = await agent.begin_prompt(session_id, "slow")
        assert "result" in await agent.call("session/close", {"sessionId": session_id})
        reply = await reply_to(agent, prompt)
        assert "error" in reply or reply["result"]["stopReason"] in ("cancelled", "end_turn")


async def test_e08_more_requests_in_flight_than_are_taken(tmp_path: Path) -> None:
    async with besieged(tmp_path) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("held", Reply("x", holds=(Hold(anyio.Event(), after=None),)))
        frames = [
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": f"f{n}",
                    "method": "session/prompt",
                    "params": prompt_params(session_id, "held"),
                }
            )
            for n in range(2_000)
        ]
        await agent.send_bytes("\n".join(frames).encode() + b"\n")
        refused = await agent.wait_for(lambda m: m.get("id") == "f1999")
        assert refused["error"]["data"]["code"] == "overloaded"
        await agent.send_bytes(cancel_frame(session_id))
        for number in range(2_000):
            reply = await reply_to(agent, f"f{number}")
            assert "error" in reply or reply["result"] == {"stopReason": "cancelled"}


async def test_e09_an_editor_that_is_stopped_with_a_full_pipe(tmp_path: Path) -> None:
    """The editor stands still while far more is said than a pipe holds; when it reads again nothing is missing."""
    words = "word " * 200_000
    async with besieged(tmp_path) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("flood", Reply(words, deltas=400))
        agent.may_read = anyio.Event()
        prompt = await agent.begin_prompt(session_id, "flood")
        with anyio.fail_after(WAIT_S):
            await siege.server.wait_for_request(1)
            with anyio.move_on_after(1):
                while siege.server.counters.answered == 0:
                    await anyio.sleep(0.02)
        assert peak_rss_bytes(agent.process.pid) < MOST_RSS_BYTES
        agent.may_read.set()
        assert (await reply_to(agent, prompt))["result"] == {"stopReason": "end_turn"}
        assert agent.said(session_id) == words


async def test_e09_half_a_line_and_a_closed_pipe_end_it_and_keep_the_state(tmp_path: Path) -> None:
    async with besieged(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        await siege.check_prompt(session_id)
        siege.model.learn("run", SLEEP)
        await siege.agent.begin_prompt(session_id, "run")
        shown = await siege.agent.wait_for_update(lambda u: "pid " in json.dumps(u.get("content", "")))
        child = watch_process(pid_in(json.dumps(shown["content"])))
        await siege.agent.send_bytes(b'{"jsonrpc":"2.0","id":5,"meth')
        assert await siege.agent.leave() == 0
        await wait_for_end(child, bound_s=5)
        async with siege.another() as second:
            here = {"sessionId": session_id, "cwd": str(siege.workspace), "mcpServers": []}
            assert "result" in await second.call("session/load", here)
            assert second.said(session_id).startswith("Still here.")


LIES: dict[str, Any] = {
    "null": None,
    "a list": [],
    "a number": 7,
    "wrong types": {"content": 7, "terminalId": [], "output": {}, "truncated": "x", "exitCode": "zero"},
    "nothing in it": {},
    "an error": {"error": {"code": -32603, "message": "no"}},
    "no such method": {"error": {"code": -32601, "message": "no"}},
    "an error of no shape": {"error": "text"},
}


@pytest.mark.parametrize("name", LIES)
async def test_e12_an_editor_that_answers_nonsense(tmp_path: Path, name: str) -> None:
    lies = dict.fromkeys(
        ("fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "terminal/wait_for_exit",
         "terminal/release", "terminal/kill"),
        lambda _: LIES[name],
    )  # fmt: skip
    async with besieged(tmp_path, answers={**lies, **ALLOW}, greeting=EVERYTHING) as siege:
        (siege.workspace / "a.txt").write_text("on the disk")
        ends = await siege.turn(
            Reply(
                tool_calls=(
                    ToolCall("read_file", {"path": "a.txt"}),
                    ToolCall("write_file", {"path": "b.txt", "content": "new"}),
                    ToolCall("edit_file", {"path": "a.txt", "old": "disk", "new": "table"}),
                    ToolCall("terminal", {"command": "echo ran"}),
                )
            )
        )
        assert len(ends) == 4
        assert "on the disk" in told(ends[0])


async def test_e12_an_editor_that_answers_with_60_megabytes_and_another_files_name(tmp_path: Path) -> None:
    huge = "x" * (30 << 20)
    answers = {
        "fs/read_text_file": lambda _: {"content": huge, "path": "/etc/shadow", "sessionId": "other"},
        **ALLOW,
    }
    async with besieged(tmp_path, answers=answers, greeting=EVERYTHING) as siege:
        (siege.workspace / "a.txt").write_text("small")
        for _ in range(2):
            end = await siege.call("read_file", {"path": "a.txt"})
            assert len(told(end)) < 1 << 20
        outside = await siege.call("read_file", {"path": str(siege.canary)})
        assert told(outside).startswith("failed")
        asked = [m["params"]["path"] for m in siege.agent.messages if m.get("method") == "fs/read_text_file"]
        assert set(asked) == {str(siege.workspace / "a.txt")}


UNANSWERED: dict[str, tuple[ToolCall, Message]] = {
    "fs/read_text_file": (ToolCall("read_file", {"path": "a.txt"}), {"fs": {"readTextFile": True}}),
    "fs/write_text_file": (
        ToolCall("write_file", {"path": "b.txt", "content": "x"}),
        {"fs": {"writeTextFile": True}},
    ),
    "terminal/create": (ToolCall("terminal", {"command": "true"}), {"terminal": True}),
}


@pytest.mark.parametrize("method", UNANSWERED)
async def test_e12_an_editor_that_never_answers_is_left_by_a_cancel(tmp_path: Path, method: str) -> None:
    call, capabilities = UNANSWERED[method]
    async with besieged(
        tmp_path, greeting={"protocolVersion": 1, "clientCapabilities": capabilities}
    ) as siege:
        agent = siege.agent
        (siege.workspace / "a.txt").write_text("small")
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("try it", Reply(tool_calls=(call,)))
        prompt = await agent.begin_prompt(session_id, "try it")
        question = await agent.wait_for(lambda m: m.get("method") == method)
        await agent.send_bytes(cancel_frame(session_id))
        assert (await reply_to(agent, prompt))["result"] == {"stopReason": "cancelled"}
        # The answer comes after all: nobody waits for it any more, and it is nobody else's.
        late = {"content": "late", "terminalId": "t1"}
        await agent.send({"jsonrpc": "2.0", "id": question["id"], "result": late})
        await siege.check_prompt(session_id)


def choose(option: Any) -> Any:
    return lambda _: {"outcome": {"outcome": "selected", "optionId": option}}


@pytest.mark.parametrize(
    "answer",
    [
        *(choose("yes"), choose(""), choose("ALLOW_ONCE"), choose(7), choose(None)),
        *(lambda _: None, lambda _: {}, lambda _: {"outcome": {"outcome": "allowed"}}),
        *(lambda _: {"outcome": "selected"}, lambda _: {"error": {"code": 1, "message": "boom"}}),
    ],
    ids=["unknown", "empty", "shouted", "number", "null option", "null", "nothing", "other", "text", "error"],
)
async def test_e12_b15_an_approval_that_makes_no_sense_is_none(tmp_path: Path, answer: Any) -> None:
    async with besieged(tmp_path, answers={"session/request_permission": answer}) as siege:
        await check_not_run(siege)


async def check_not_run(siege: Siege) -> None:
    session_id = await siege.agent.open_session(siege.workspace)
    siege.model.learn("dangerous", Reply(tool_calls=(ToolCall("terminal", {"command": "touch ran"}),)))
    await siege.agent.prompt(session_id, "dangerous")
    (end,) = ends_of(siege.agent.updates(session_id=session_id))
    assert end["status"] == "failed"
    assert not (siege.workspace / "ran").exists()


async def test_e12_answers_that_come_twice_or_for_another_session(tmp_path: Path) -> None:
    """A question of one session is answered with the id of another's, then twice: each runs what was asked of it."""
    async with besieged(tmp_path, answers={}) as siege:
        agent = siege.agent
        questions: list[Message] = []
        prompts: list[object] = []
        for number in range(2):
            session_id = await agent.open_session(siege.workspace)
            siege.model.learn(
                f"make {number}",
                Reply(tool_calls=(ToolCall("terminal", {"command": f"echo x >> ran{number}"}),)),
            )
            seen = len(agent.messages)
            prompts.append(await agent.begin_prompt(session_id, f"make {number}"))
            questions.append(await agent.wait_for(is_question, behind=seen))
        allow = permit("allow_once")({})
        for _ in range(3):
            await agent.send({"jsonrpc": "2.0", "id": questions[0]["id"], "result": allow})
        assert (await reply_to(agent, prompts[0]))["result"] == {"stopReason": "end_turn"}
        assert (siege.workspace / "ran0").read_text() == "x\n"
        assert not (siege.workspace / "ran1").exists()
        await agent.send({"jsonrpc": "2.0", "id": questions[1]["id"], "result": permit("reject_once")({})})
        await agent.send({"jsonrpc": "2.0", "id": questions[1]["id"], "result": allow})
        assert (await reply_to(agent, prompts[1]))["result"] == {"stopReason": "end_turn"}
        assert not (siege.workspace / "ran1").exists()


async def test_e14_a_process_that_was_stopped_and_goes_on(tmp_path: Path) -> None:
    """A suspended laptop in short: the agent stands still in mid-stream and in mid-command, then goes on as before."""
    gate = anyio.Event()
    async with besieged(tmp_path) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("slow", Reply(("one ", "two"), holds=(Hold(gate, after=1),)))
        prompt = await agent.begin_prompt(session_id, "slow")
        await agent.wait_for(lambda _: "one" in agent.said(session_id))
        os.kill(agent.process.pid, signal.SIGSTOP)
        gate.set()
        listing = await agent.begin("session/list", {})
        await agent.send_bytes(cancel_frame("ses_unknown") * 1_000)
        os.kill(agent.process.pid, signal.SIGCONT)
        assert (await reply_to(agent, prompt))["result"] == {"stopReason": "end_turn"}
        assert "result" in await reply_to(agent, listing)
        assert agent.said(session_id) == "one two"
        assert len(siege.server.requests) == 1
