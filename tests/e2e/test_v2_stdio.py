"""The draft of version 2 with a real process: initialized inside the event loop, used, and closed."""

from pathlib import Path

import pytest

from tests.e2e.agent_process import agent_environment
from tests.e2e.raw_editor import Message, RawEditor, editor, prompt_params
from tests.model_server import Reply, serve

pytestmark = pytest.mark.anyio
HELLO: Message = {"protocolVersion": 2, "info": {"name": "drafter", "version": "1"}}


async def converse(agent: RawEditor, project: Path) -> Message:
    """Run one turn; return its final state."""
    session = (await agent.call("session/new", {"cwd": str(project)}))["result"]["sessionId"]
    reply = await agent.call("session/prompt", prompt_params(session, "Hello"))
    assert reply["result"].keys() == {"messageId"}
    return await agent.wait_for_update(lambda update: update.get("state") == "idle")


async def test_an_editor_of_version_2_is_served(tmp_path: Path) -> None:
    async with serve([Reply("Good day.")]) as server:
        variables = agent_environment(tmp_path, server, HERMES_ACP_DRAFT_V2="1")
        async with editor(variables, tmp_path / "scratch", greeting=None) as agent:
            greeted = (await agent.call("initialize", HELLO))["result"]
            assert (greeted["protocolVersion"], greeted["info"]["name"]) == (2, "hermes-acp")
            assert (await converse(agent, tmp_path))["stopReason"] == "end_turn"
            assert agent.said() == "Good day."
            assert await agent.leave() == 0


async def test_without_the_flag_it_is_answered_in_version_1(tmp_path: Path) -> None:
    async with editor(agent_environment(tmp_path), tmp_path / "scratch", greeting=None) as agent:
        assert (await agent.call("initialize", HELLO))["result"]["protocolVersion"] == 1
        assert await agent.leave() == 0
