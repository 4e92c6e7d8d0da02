"""Models that give all calls the same ID: an answer must reach the call it was given for, in its own session."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from tests.attacks.attack_checks import AttackedAgent, attacked_agent, ends_of, result_of
from tests.attacks.frames import is_question, reply_to
from tests.e2e.raw_editor import Message, permit
from tests.model_server import Reply, ToolCall

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"
OURS = re.compile(r"call_[0-9a-f]{16}")


def questions(siege: AttackedAgent) -> list[Message]:
    return [m["params"] for m in siege.agent.messages if is_question(m)]


def writing(name: str) -> Reply:
    return Reply(tool_calls=(ToolCall("write_file", {"path": name, "content": "x"}, id="call_0"),))


async def test_b16_two_sessions_whose_models_count_from_zero_share_no_id(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={ASK: permit("allow_once")}) as siege:
        sessions = [await siege.agent.open_session(siege.workspace) for _ in range(2)]
        for session_id in sessions:
            await siege.turn(writing(f"{session_id}-a"), writing(f"{session_id}-b"), session_id=session_id)
        asked = questions(siege)
        assert [each["sessionId"] for each in asked] == [sessions[0]] * 2 + [sessions[1]] * 2
        ids = [each["toolCall"]["toolCallId"] for each in asked]
        assert len(set(ids)) == 4
        assert all(OURS.fullmatch(each) for each in ids), ids
        shown = {
            update["toolCallId"] for update in siege.agent.updates() if update["sessionUpdate"] == "tool_call"
        }
        assert shown == set(ids)
        # The model gets the IDs that it sent, as some vendors accept no others.
        messages = cast("list[dict[str, Any]]", siege.server.requests[1].body["messages"])
        (said,) = [message for message in messages if message.get("tool_calls")]
        assert said["tool_calls"][0]["id"] == "call_0"
        assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == ["call_0"]


async def test_b16_an_answer_in_one_session_leaves_the_same_call_of_another_unanswered(
    tmp_path: Path,
) -> None:
    async with attacked_agent(tmp_path, answers={}) as siege:
        agent = siege.agent
        first, second = [await agent.open_session(siege.workspace) for _ in range(2)]
        siege.model.learn("in the first", writing("one"))
        siege.model.learn("in the second", writing("two"))
        prompts: list[Any] = []
        for session_id, words in ((first, "in the first"), (second, "in the second")):
            seen = len(agent.messages)
            prompts.append(await agent.begin_prompt(session_id, words))
            await agent.wait_for(is_question, behind=seen)
        mine, others = [m for m in agent.messages if is_question(m)]
        assert mine["params"]["toolCall"]["toolCallId"] != others["params"]["toolCall"]["toolCallId"]
        for question, option in ((mine, "reject_once"), (others, "allow_once")):
            answer = permit(option)(question["params"])
            line = json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": answer})
            await agent.send_bytes(line.encode() + b"\n")
        for prompt in prompts:
            await reply_to(agent, prompt)
        ends = {each: result_of(ends_of(agent.updates(session_id=each))[0]) for each in (first, second)}
        assert ends[first].startswith("failed"), ends
        assert ends[second].startswith("completed"), ends
        assert sorted(path.name for path in siege.workspace.iterdir()) == ["two"]
