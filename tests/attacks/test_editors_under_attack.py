"""Editors that lie, hang, or answer questions that were never asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.attack_checks import ALLOW, attacked_agent, ends_of, result_of
from tests.attacks.frames import cancel_frame, is_question, reply_to
from tests.e2e.raw_editor import Answer, Message, permit
from tests.model_server import Reply, ToolCall

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]

ASKED_OF_EDITORS = (
    *("fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output"),
    *("terminal/wait_for_exit", "terminal/release", "terminal/kill"),
)
EVERYTHING: Message = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
}


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


def lie_with(result: Any) -> Answer:
    return lambda _: result


async def test_e12_an_editor_that_sends_nonsense(tmp_path: Path) -> None:
    telling: list[str] = []

    def lie(params: Message) -> Any:
        del params
        return LIES[telling[-1]]

    lies = dict.fromkeys(ASKED_OF_EDITORS, lie)
    async with attacked_agent(tmp_path, answers={**lies, **ALLOW}, greeting=EVERYTHING) as siege:
        for number, name in enumerate(LIES):
            telling.append(name)
            (siege.workspace / f"a{number}.txt").write_text("on the disk")
            calls = (
                ToolCall("read_file", {"path": f"a{number}.txt"}),
                ToolCall("write_file", {"path": f"b{number}.txt", "content": "new"}),
                ToolCall("edit_file", {"path": f"a{number}.txt", "old": "disk", "new": "table"}),
                ToolCall("terminal", {"command": f"echo ran {number}"}),
            )
            ends = await siege.turn(Reply(tool_calls=calls))
            assert len(ends) == 4, name
            assert "on the disk" in result_of(ends[0]), name


async def test_e12_an_editor_that_answers_with_60_megabytes_and_another_files_name(tmp_path: Path) -> None:
    huge = "x" * (30 << 20)
    answers: dict[str, Answer] = {
        "fs/read_text_file": lie_with({"content": huge, "path": "/etc/shadow", "sessionId": "other"}),
        **ALLOW,
    }
    async with attacked_agent(tmp_path, answers=answers, greeting=EVERYTHING) as siege:
        (siege.workspace / "a.txt").write_text("small")
        for _ in range(2):
            end = await siege.call("read_file", {"path": "a.txt"})
            assert len(result_of(end)) < 1 << 20
        outside = await siege.call("read_file", {"path": str(siege.canary)})
        assert result_of(outside).startswith("failed")
        asked = [m["params"]["path"] for m in siege.agent.messages if m.get("method") == "fs/read_text_file"]
        assert set(asked) == {str(siege.workspace / "a.txt")}


UNANSWERED: dict[str, tuple[ToolCall, Message]] = {
    "fs/read_text_file": (ToolCall("read_file", {"path": "a.txt"}), {"fs": {"readTextFile": True}}),
    "fs/write_text_file": (
        ToolCall("write_file", {"path": "b.txt", "content": "x"}),
        {"fs": {"writeTextFile": True}},
    ),
    "terminal/create": (ToolCall("terminal", {"command": "touch x"}), {"terminal": True}),
}


@pytest.mark.parametrize("method", UNANSWERED)
async def test_e12_a_cancel_ends_waiting_for_an_editor_that_never_answers(
    tmp_path: Path, method: str
) -> None:
    call, capabilities = UNANSWERED[method]
    greeting: Message = {"protocolVersion": 1, "clientCapabilities": capabilities}
    async with attacked_agent(tmp_path, greeting=greeting, answers=ALLOW) as siege:
        agent = siege.agent
        (siege.workspace / "a.txt").write_text("small")
        session_id = await agent.open_session(siege.workspace)
        siege.model.learn("try it", Reply(tool_calls=(call,)))
        prompt = await agent.begin_prompt(session_id, "try it")
        question = await agent.wait_for(lambda m: m.get("method") == method)
        await agent.send_bytes(cancel_frame(session_id))
        assert (await reply_to(agent, prompt))["result"] == {"stopReason": "cancelled"}
        # The late answer is discarded: nobody waits for it, and it is not used for another question.
        late = {"content": "late", "terminalId": "t1"}
        await agent.send({"jsonrpc": "2.0", "id": question["id"], "result": late})
        await siege.check_prompt(session_id)


def choose(option: object) -> Answer:
    return lie_with({"outcome": {"outcome": "selected", "optionId": option}})


NO_APPROVALS: dict[str, Answer] = {
    "unknown": choose("yes"),
    "empty": choose(""),
    "shouted": choose("ALLOW_ONCE"),
    "number": choose(7),
    "null option": choose(None),
    "null": lie_with(None),
    "nothing": lie_with({}),
    "other": lie_with({"outcome": {"outcome": "allowed"}}),
    "text": lie_with({"outcome": "selected"}),
    "error": lie_with({"error": {"code": 1, "message": "boom"}}),
}


async def test_e12_b15_an_invalid_approval_is_not_accepted(tmp_path: Path) -> None:
    coming = iter(NO_APPROVALS.values())
    async with attacked_agent(
        tmp_path, answers={"session/request_permission": lambda params: next(coming)(params)}
    ) as siege:
        agent = siege.agent
        siege.model.learn("dangerous", Reply(tool_calls=(ToolCall("terminal", {"command": "touch ran"}),)))
        for name in NO_APPROVALS:
            session_id = await agent.open_session(siege.workspace)
            await agent.prompt(session_id, "dangerous")
            (end,) = ends_of(agent.updates(session_id=session_id))
            assert end["status"] == "failed", name
            assert not (siege.workspace / "ran").exists(), name
        assert next(coming, None) is None


async def test_e12_duplicate_answers_and_answers_for_another_session(tmp_path: Path) -> None:
    """A question of one session is answered with another's ID, then twice: each runs what it was asked about."""
    async with attacked_agent(tmp_path, answers={}) as siege:
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
