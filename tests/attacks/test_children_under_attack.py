"""Limits on child agents: tools, questions, modes, depth, and that they end with their parent."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import anyio
import pytest

from tests.attacks.attack_checks import AttackedAgent, attacked_agent, result_of
from tests.attacks.frames import cancel_frame, reply_to
from tests.e2e.raw_editor import Answer, Message, permit
from tests.model_server import Reply, ToolCall

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]
REFUSE: Final[dict[str, Answer]] = {"session/request_permission": permit("reject_once")}
TASK: Final = "errand of a child"


def delegate(*, tools: list[str] | None = None, tasks: int = 1) -> ToolCall:
    given = [{"title": f"Part {number}", "instructions": f"{TASK} {number}"} for number in range(tasks)]
    return ToolCall("delegate", {"tasks": given} | ({} if tools is None else {"tools": tools}))


async def delegate_to_child(
    siege: AttackedAgent, *calls: ToolCall, tools: list[str] | None = None, session_id: str = ""
) -> str:
    """Have a child make these calls; return what it was told about them."""
    siege.model.learn(TASK, Reply(tool_calls=calls))
    before = len(siege.server.requests)
    await siege.turn(Reply(tool_calls=(delegate(tools=tools),)), session_id=session_id)
    asked = [request for request in siege.server.requests[before:] if TASK in request.asked.prompt_text]
    return "\n".join(json.dumps(request.body["messages"]) for request in asked)


async def test_a_child_has_only_the_tools_it_was_given(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        (siege.workspace / "a.txt").write_text("inside")
        text = await delegate_to_child(
            siege,
            ToolCall("read_file", {"path": "a.txt"}),
            ToolCall("terminal", {"command": "touch made"}),
            ToolCall("write_file", {"path": "made", "content": "x"}),
            ToolCall("execute_code", {"code": "open('made', 'w')"}),
            tools=["read_file"],
        )
        assert "inside" in text
        assert text.count("There is no tool") == 3
        assert not (siege.workspace / "made").exists()


@pytest.mark.parametrize("name", ["ask_user", "memory", "skill_manage", "tool_manage", "no_such_tool"])
async def test_no_child_gets_tools_that_persist_or_ask(tmp_path: Path, name: str) -> None:
    async with attacked_agent(tmp_path) as siege:
        end = await siege.call("delegate", delegate(tools=[name]).arguments)
        assert "A child agent has no tool" in result_of(end)


async def test_a_childs_calls_need_the_same_approval_as_its_parents(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers=REFUSE) as siege:
        (siege.workspace / ".env").write_text("KEY=plain-words\n")
        text = await delegate_to_child(
            siege,
            ToolCall("terminal", {"command": "touch made"}),
            ToolCall("write_file", {"path": "made", "content": "x"}),
            ToolCall("read_file", {"path": ".env"}),
            ToolCall("read_file", {"path": str(siege.canary)}),
            ToolCall("execute_code", {"code": "open('made', 'w')"}),
        )
        asked = [m for m in siege.agent.messages if m.get("method") == "session/request_permission"]
        assert len(asked) == 4
        assert all(m["params"]["toolCall"]["title"].startswith("Part 0: ") for m in asked)
        assert "plain-words" not in text
        assert not (siege.workspace / "made").exists()


async def test_a_childs_mode_is_that_of_its_parent(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        await siege.agent.call("session/set_mode", {"sessionId": session_id, "modeId": "plan"})
        await siege.check_prompt(
            session_id
        )  # The note about the new mode reaches the model here, before the turn under test.
        calls = (
            ToolCall("write_file", {"path": "made", "content": "x"}),
            ToolCall("terminal", {"command": "touch made"}),
        )
        siege.model.learn(
            "Mode is now plan", Reply(tool_calls=calls)
        )  # The note about the child's mode comes last.
        await delegate_to_child(siege, *calls, session_id=session_id)
        told_last = json.dumps(siege.server.requests[-2].body["messages"])
        assert told_last.count("Not allowed: plan mode") == 2
        assert not (siege.workspace / "made").exists()


async def test_delegation_is_limited_to_two_levels(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        siege.model.learn(TASK, Reply(tool_calls=(delegate(),)))
        await siege.turn(Reply(tool_calls=(delegate(),)))
        asked = [request for request in siege.server.requests if TASK in request.asked.prompt_text]
        assert 2 <= len(asked) < 10
        tools = [{tool["function"]["name"] for tool in request.body["tools"]} for request in asked]
        assert any("delegate" not in names for names in tools)


async def test_more_children_than_one_call_may_start_are_rejected(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        end = await siege.call("delegate", delegate(tasks=9).arguments)
        assert end["status"] == "failed"
        assert [request for request in siege.server.requests if TASK in request.asked.prompt_text] == []


async def test_a_cancel_ends_every_child_and_its_commands(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn(
            TASK, Reply(tool_calls=(ToolCall("terminal", {"command": "echo $$ >> pids; sleep 1000"}),))
        )
        siege.model.learn("begin", Reply(tool_calls=(delegate(tasks=3),)))
        prompt = await agent.begin_prompt(session_id, "begin")
        pids = siege.workspace / "pids"
        with anyio.fail_after(60):
            while not pids.exists() or len(pids.read_text().split()) < 3:
                await anyio.sleep(0.05)
        await agent.send_bytes(cancel_frame(session_id))
        reply: Message = await reply_to(agent, prompt)
        assert reply["result"] == {"stopReason": "cancelled"}
        assert [pid for pid in pids.read_text().split() if Path(f"/proc/{pid}").exists()] == []
