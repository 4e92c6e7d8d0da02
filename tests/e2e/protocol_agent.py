"""An agent for ACP clients: it asks, reads a file, and shows a plan and a call."""

from hermes_protocol import v1
from hermes_protocol.agent_server import AgentServer, run_agent


class AskingAgent(AgentServer):
    async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        session = params.session_id
        [block] = params.prompt
        path = block.text if isinstance(block, v1.TextContent) else ""
        self.update(
            session, v1.Plan(entries=[v1.PlanEntry(content="Read", priority="low", status="pending")])
        )
        self.update(session, v1.ToolCall(tool_call_id="c", title="Read it", kind="read", status="pending"))
        question = v1.RequestPermissionRequest(
            session_id=session,
            tool_call=v1.ToolCallUpdate(tool_call_id="c", title="Read it"),
            options=[v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        answer = await self.ask(question, v1.RequestPermissionResponse)
        if not isinstance(answer.outcome, v1.SelectedPermissionOutcome):
            return v1.PromptResponse(stop_reason="refusal")
        file = await self.ask(v1.ReadTextFileRequest(session_id=session, path=path), v1.ReadTextFileResponse)
        self.update(session, v1.SessionUpdateToolCallUpdate(tool_call_id="c", status="completed"))
        self.say(session, file.content)
        return v1.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    run_agent(AskingAgent())
