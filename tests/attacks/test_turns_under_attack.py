"""Attacks on turns: floods of cancels and prompts, editors that stop reading or exit."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.attacks.attack_checks import MAX_RSS_BYTES, attacked_agent, ends_of, peak_rss_bytes
from tests.attacks.frames import cancel_frame, is_question, reply_to
from tests.e2e.agent_process import (
    COMMAND,
    SLEEPER,
    WAIT_S,
    agent_environment,
    pid_in,
    wait_for_end,
    watch_process,
)
from tests.e2e.raw_editor import Matches, Message, permit, prompt_params
from tests.model_server import Hold, Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]

MANY_CANCELS = 10_000
SLEEP = Reply(tool_calls=(ToolCall("terminal", {"command": SLEEPER}),))


async def test_e07_ten_thousand_cancels_at_any_point_of_a_turn(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={}) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        flood = cancel_frame(session_id) * MANY_CANCELS
        await agent.send_bytes(flood)  # Before any prompt.
        for unknown in ("ses_unknown", "", 7, None, ["x"]):
            await agent.send_bytes(cancel_frame(unknown))
        await siege.check_prompt(session_id)

        siege.model.learn("stream", Reply(("one ", "two"), holds=(Hold(anyio.Event(), after=1),)))
        siege.model.learn("question", SLEEP)
        waits: dict[str, Matches] = {
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


async def test_e07_a_cancel_kills_the_command_and_everything_it_started(tmp_path: Path) -> None:
    stubborn = "trap '' TERM INT HUP; sleep 300 & setsid sleep 300 & " + SLEEPER.replace("exec ", "")
    async with attacked_agent(tmp_path) as siege:
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


@pytest.mark.slow
async def test_e08_a_storm_of_sessions_and_prompts(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
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
    async with attacked_agent(tmp_path) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("slow", Reply(("one ", "two"), holds=(Hold(gate, after=1),)))
        first = await agent.begin_prompt(session_id, "slow")
        await agent.wait_for(lambda _: "one" in agent.said(session_id))
        more = [await agent.begin_prompt(session_id, f"next {number}") for number in range(20)]
        here: Message = {"sessionId": session_id, "cwd": str(siege.workspace), "mcpServers": []}
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


async def test_e08_more_requests_in_flight_than_are_accepted(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
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
    """The editor stalls while far more is sent than a pipe holds; when it reads again, nothing is missing."""
    words = "word " * 200_000
    async with attacked_agent(tmp_path) as siege:
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
        assert peak_rss_bytes(agent.process.pid) < MAX_RSS_BYTES
        agent.may_read.set()
        assert (await reply_to(agent, prompt))["result"] == {"stopReason": "end_turn"}
        assert agent.said(session_id) == words


async def test_e09_half_a_line_and_a_closed_pipe_end_the_agent_and_keep_its_state(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        await siege.check_prompt(session_id)
        siege.model.learn("run", SLEEP)
        await siege.agent.begin_prompt(session_id, "run")
        shown = await siege.agent.wait_for_update(lambda u: "pid " in json.dumps(u.get("content", "")))
        child = watch_process(pid_in(json.dumps(shown["content"])))
        await siege.agent.send_bytes(b'{"jsonrpc":"2.0","id":5,"meth')
        assert await siege.agent.leave() == 0
        await wait_for_end(child)
        async with siege.another() as second:
            here: Message = {"sessionId": session_id, "cwd": str(siege.workspace), "mcpServers": []}
            assert "result" in await second.call("session/load", here)
            assert second.said(session_id).startswith("Still here.")


async def test_e09_an_editor_that_closes_only_its_reading_end(tmp_path: Path) -> None:
    """Our input stays open: the failed write reveals the exit; the running command is ended too."""
    (tmp_path / "workspace").mkdir()
    reading, writing = os.pipe()
    async with serve([SLEEP]) as server:
        with anyio.fail_after(WAIT_S):
            process = await anyio.open_process(
                [COMMAND],
                stdin=subprocess.PIPE,
                stdout=writing,
                env=agent_environment(tmp_path, server),
                cwd=tmp_path,
            )
            os.close(writing)
            async with process:
                assert process.stdin
                written = b""
                for number, frame in enumerate(OPENING, 1):
                    session_id = re.search(rb'"sessionId":"(\w+)"', written)
                    text = json.dumps(frame).replace("@here", str(tmp_path / "workspace"))
                    text = text.replace("@session", session_id[1].decode() if session_id else "")
                    await process.stdin.send(text.encode() + b"\n")
                    awaited = (
                        b'"method":"session/request_permission"'
                        if number == 3
                        else b'"id":%d,"result"' % number
                    )
                    written = await read_until(reading, written, awaited)
                question = re.search(rb'"id":("?\w+"?),"method":"session/request_permission"', written)
                assert question
                answer = json.dumps({"jsonrpc": "2.0", "id": "@", "result": permit("allow_once")({})})
                await process.stdin.send(answer.replace('"@"', question[1].decode()).encode() + b"\n")
                child = watch_process(pid_in(await read_until(reading, b"", rb"pid \d+\D")))
                os.close(reading)
                await process.stdin.send(b'{"jsonrpc":"2.0","id":9,"method":"session/list","params":{}}\n')
                await process.wait()
                await wait_for_end(child)


OPENING: tuple[Message, ...] = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
    {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": "@here", "mcpServers": []}},
    {"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": prompt_params("@session", "run")},
)


async def read_until(descriptor: int, written: bytes, pattern: bytes) -> bytes:
    while not re.search(pattern, written):
        await anyio.wait_readable(descriptor)
        piece = os.read(descriptor, 1 << 16)
        assert piece, written[-2000:]
        written += piece
    return written


async def test_e14_a_process_that_is_stopped_and_continued(tmp_path: Path) -> None:
    """A short version of a suspended laptop: the agent is stopped during a stream and a command, then continues."""
    gate = anyio.Event()
    async with attacked_agent(tmp_path) as siege:
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
