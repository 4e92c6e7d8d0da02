"""An agent that repeats every prompt."""

from hermes_protocol import v1
from hermes_protocol.agent_server import AgentServer, run_agent


class EchoAgent(AgentServer):
    async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        for block in params.prompt:
            text = block.text if isinstance(block, v1.TextContent) else ""
            self.say(params.session_id, v1.TextContent(text=text, meta={"echo": True}), {"echo": True})
        return v1.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    run_agent(EchoAgent())
