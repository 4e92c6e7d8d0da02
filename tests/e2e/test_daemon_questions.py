"""Questions in the resident process: those of runs reach editors, and those of sessions survive its death."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment, run_command
from tests.e2e.raw_editor import Message, RawEditor, editor, permit
from tests.e2e.resident_process import resident
from tests.model_server import Reply, ToolCall, serve

pytestmark = pytest.mark.anyio
WRITE = Reply("I write.", tool_calls=(ToolCall("write_file", {"path": "new.txt", "content": "new\n"}),))
ALLOW = {"session/request_permission": permit("allow_once")}


async def load(agent: RawEditor, session_id: str, workspace: Path) -> None:
    params: Message = {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
    assert "result" in await agent.call("session/load", params)


async def question_of(agent: RawEditor) -> Any:
    """Wait for a permission question and return its parameters."""
    asked = await agent.wait_for(lambda message: message.get("method") == "session/request_permission")
    return asked["params"]


async def status(environment: dict[str, str], cwd: Path) -> Any:
    return json.loads((await run_command("status", "--json", environment=environment, cwd=cwd)).output)


async def shown(run: str, environment: dict[str, str], cwd: Path) -> Any:
    done = await run_command("runs", "show", run, "--json", environment=environment, cwd=cwd)
    return json.loads(done.output)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


async def test_the_status_counts_questions(tmp_path: Path, workspace: Path) -> None:
    write = Reply("I write.", tool_calls=(ToolCall("write_file", {"path": "new.txt", "content": "new\n"}),))
    async with serve([write, write]) as model:
        environment = agent_environment(tmp_path, model)
        async with resident(environment, tmp_path), editor(environment, workspace) as first:
            session_id = await first.open_session(workspace)
            await first.begin_prompt(session_id, "write")
            await first.wait_for(lambda m: m.get("method") == "session/request_permission")
            assert (await status(environment, tmp_path))["openQuestions"] == 1
            await run_command("runs", "start", "write", environment=environment, cwd=workspace)
            with anyio.fail_after(WAIT_S):
                while (await status(environment, tmp_path))["openQuestions"] != 2:
                    pass
            shown = await run_command("status", environment=environment, cwd=tmp_path)
            assert "2 questions are waiting for you." in shown.output


@pytest.mark.slow
async def test_a_question_survives_a_killed_resident_process_unchanged(
    tmp_path: Path, workspace: Path
) -> None:
    async with serve([WRITE, Reply("Done.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with resident(environment, tmp_path) as killed, editor(environment, workspace) as first:
            session_id = await first.open_session(workspace)
            await first.begin_prompt(session_id, "write")
            asked = await question_of(first)
            killed.process.kill()
            await first.process.wait()
        for _ in range(3):  # More often than a turn that ends its process is restarted.
            async with resident(environment, tmp_path) as killed:
                with anyio.fail_after(WAIT_S):
                    while not (await status(environment, tmp_path))["openQuestions"]:
                        pass
                killed.process.kill()
        async with resident(environment, tmp_path), editor(environment, workspace, answers=ALLOW) as second:
            await load(second, session_id, workspace)
            again = await question_of(second)
            await second.wait_for(lambda _: second.said().endswith("Done."))
        assert again["toolCall"]["toolCallId"] == asked["toolCall"]["toolCallId"]
        assert again["toolCall"]["content"] == asked["toolCall"]["content"]
        assert (workspace / "new.txt").read_text() == "new\n"
        assert len(model.requests) == 2, "the model was not asked to repeat the call"


async def test_a_runs_question_is_sent_to_the_editor_that_opens_its_session(
    tmp_path: Path, workspace: Path
) -> None:
    async with serve([WRITE, Reply("Done.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with resident(environment, tmp_path), editor(environment, workspace, answers=ALLOW) as one:
            start = ("runs", "start", "write", "--id", "r1", "--session", "mine", "--create-session")
            await run_command(*start, environment=environment, cwd=workspace)
            with anyio.fail_after(WAIT_S):
                while not (await status(environment, tmp_path))["openQuestions"]:
                    pass
            await load(one, "mine", workspace)
            await question_of(one)
            await one.wait_for(lambda _: one.said().endswith("Done."))
            with anyio.fail_after(WAIT_S):
                while (await shown("r1", environment, workspace))["state"] != "done":
                    pass
        assert (workspace / "new.txt").read_text() == "new\n"
