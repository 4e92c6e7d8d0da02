"""Questions that nobody answered before the agent's process ended, without a resident process."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment
from tests.e2e.chat_environment import Place
from tests.e2e.chat_terminal import ENTER
from tests.e2e.raw_editor import Message, RawEditor, editor, permit
from tests.model_server import ModelServer, Reply, ToolCall, serve

pytestmark = pytest.mark.anyio
WRITE = Reply("I write.", tool_calls=(ToolCall("write_file", {"path": "new.txt", "content": "new\n"}),))
ALLOW = {"session/request_permission": permit("allow_once")}
FOLLOWS_TURNS: Message = {
    "protocolVersion": 1,
    "clientCapabilities": {"_meta": {"hermes": {"turnStates": True, "turnEnds": True}}},
}


async def load(agent: RawEditor, session_id: str, workspace: Path) -> None:
    params: Message = {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
    assert "result" in await agent.call("session/load", params)


async def ask(environment: Mapping[str, str], workspace: Path, *, kill: bool) -> tuple[str, Any]:
    """Have the agent ask, and end its process while it waits; return the session and the question."""
    async with editor(environment, workspace) as agent:
        session_id = await agent.open_session(workspace)
        await agent.begin_prompt(session_id, "write")
        asked = await agent.wait_for(lambda m: m.get("method") == "session/request_permission")
        if kill:
            agent.process.kill()
            await agent.process.wait()
        else:
            assert await agent.leave() == 0
    return session_id, asked["params"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def sent_session_infos(agent: RawEditor, what: str) -> list[Message]:
    """Return what the agent sent in its own session_info_updates, in order."""
    marks = [update.get("_meta", {}).get("hermes", {}) for update in agent.updates("session_info_update")]
    return [mark[what] for mark in marks if what in mark]


@pytest.mark.parametrize("kill", [False, True], ids=["the client left", "the process was killed"])
async def test_a_client_that_loads_the_session_is_asked_again(
    tmp_path: Path, workspace: Path, kill: bool
) -> None:
    async with serve([WRITE, Reply("Done.")]) as model:
        environment = agent_environment(tmp_path, model)
        session_id, asked = await ask(environment, workspace, kill=kill)
        async with editor(environment, workspace, answers=ALLOW, greeting=FOLLOWS_TURNS) as second:
            await load(second, session_id, workspace)
            again = await second.wait_for(lambda m: m.get("method") == "session/request_permission")
            await second.wait_for(lambda _: second.said().endswith("Done."))
            with anyio.fail_after(WAIT_S):
                await second.wait_for(lambda _: bool(sent_session_infos(second, "turnEnded")[1:]))
        assert again["params"]["toolCall"] == asked["toolCall"]
        assert (workspace / "new.txt").read_text() == "new\n"
        assert len(model.requests) == 2, "the model was not asked to repeat the call"
        rests, ended = sent_session_infos(second, "turnEnded")
        assert rests["isWaiting"] is True
        assert sent_session_infos(second, "turnBegan")[0]["turnId"] == ended["turnId"]


async def test_the_question_is_lost_for_a_client_that_follows_no_turns(
    tmp_path: Path, workspace: Path
) -> None:
    async with serve([WRITE, Reply("Something else.")]) as model:
        environment = agent_environment(tmp_path, model)
        session_id, _ = await ask(environment, workspace, kill=False)
        async with editor(environment, workspace, answers=ALLOW) as second:
            await load(second, session_id, workspace)
            await second.prompt(session_id, "do something else")
            assert not any(m.get("method") == "session/request_permission" for m in second.messages)
        assert not (workspace / "new.txt").exists()
        assert "before this call was started" in outcome_for_model(model)


async def test_a_question_closed_by_its_client_is_not_asked_again(tmp_path: Path, workspace: Path) -> None:
    async with serve([WRITE]) as model:
        environment = agent_environment(tmp_path, model)
        async with editor(environment, workspace) as agent:
            session_id = await agent.open_session(workspace)
            await agent.begin_prompt(session_id, "write")
            await agent.wait_for(lambda m: m.get("method") == "session/request_permission")
            await agent.call("session/close", {"sessionId": session_id})
        async with editor(environment, workspace, answers=ALLOW, greeting=FOLLOWS_TURNS) as second:
            await load(second, session_id, workspace)
            assert [end["reason"] for end in sent_session_infos(second, "turnEnded")] == ["cancelled"]
        assert not (workspace / "new.txt").exists()


def outcome_for_model(model: ModelServer) -> str:
    """Return the last request as text."""
    return str(model.requests[-1])


@pytest.mark.slow
async def test_a_question_left_by_a_closed_terminal_waits_for_the_next_chat(place: Place) -> None:
    write = ToolCall("write_file", {"path": "new.txt", "content": "new\n"})
    async with serve([Reply("I write.", tool_calls=(write,)), Reply("Done.")]) as server:
        async with place.chat(server) as terminal:
            await terminal.see("scripted-large")
            terminal.type(f"write{ENTER}")
            await terminal.see("Allow once")
            terminal.process.send_signal(signal.SIGHUP)
            await terminal.end()
        async with place.chat(server, "--continue") as terminal:
            await terminal.see("Your answer:")
            terminal.type("y")
            await terminal.see("Done.")
        assert (place.project / "new.txt").read_text() == "new\n"
        assert len(server.requests) == 2
