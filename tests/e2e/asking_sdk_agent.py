"""An agent based on the other Python SDK: it asks permission to run a task's known solution, and runs it in bash."""

import sys
from pathlib import Path
from typing import Any, cast

import acp
import anyio
from acp import schema

from bench.evaluation import read_tasks

OPTIONS = [
    schema.PermissionOption(kind="allow_once", name="Yes", option_id="yes"),
    schema.PermissionOption(kind="reject_once", name="No", option_id="no"),
]


class AskingAgent:
    def __init__(self, folder: Path) -> None:
        self._solutions = {task.prompt: task.solution for task in read_tasks(folder)}
        self._client: acp.Client | None = None
        self._cwd = ""

    def on_connect(self, conn: acp.Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **kwargs: Any) -> acp.NewSessionResponse:
        self._cwd = cwd
        return acp.NewSessionResponse(session_id="s")

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> acp.PromptResponse:
        assert self._client
        command = self._solutions[prompt[0].text]
        call = acp.start_tool_call("c", "Run bash", kind="execute", raw_input={"command": command})
        await self._client.session_update(session_id, call)
        question = schema.ToolCallUpdate(tool_call_id="c", title="Run bash")
        answer = await self._client.request_permission(
            session_id=session_id, tool_call=question, options=OPTIONS
        )
        is_allowed = getattr(answer.outcome, "option_id", "") == "yes"
        if is_allowed:
            await anyio.run_process(["bash", "-c", command], cwd=self._cwd, check=False)
        end = acp.update_tool_call("c", status="completed" if is_allowed else "failed")
        await self._client.session_update(session_id, end)
        await self._client.session_update(
            session_id, acp.update_agent_message_text("Done." if is_allowed else "Refused.")
        )
        return acp.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    anyio.run(acp.run_agent, cast("acp.Agent", AskingAgent(Path(sys.argv[1]))))
