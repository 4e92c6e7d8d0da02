"""An agent that serves more than the required methods and logs all calls."""

import logging
from typing import Any

from hermes_protocol import v1
from hermes_protocol.agent_server import AgentServer, run_agent


class ExampleAgent(AgentServer):
    name, version = "example-agent", "0.1.0"
    capabilities = v1.AgentCapabilities(load_session=True)
    sessions = 0

    async def authenticate(self, params: v1.AuthenticateRequest) -> v1.AuthenticateResponse:
        logging.info("Received authenticate request %s", params.method_id)
        return v1.AuthenticateResponse()

    async def session_new(self, params: v1.NewSessionRequest) -> v1.NewSessionResponse:
        logging.info("Received new session request")
        self.sessions += 1
        return v1.NewSessionResponse(session_id=str(self.sessions - 1))

    async def session_load(self, params: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        logging.info("Received load session request %s", params.session_id)
        return v1.LoadSessionResponse()

    async def session_set_mode(self, params: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        logging.info("Received set session mode request %s -> %s", params.session_id, params.mode_id)
        return v1.SetSessionModeResponse()

    async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        logging.info("Received prompt request for session %s", params.session_id)
        for block in (v1.TextContent(text="Client sent:"), *params.prompt):
            self.say(params.session_id, block)
        return v1.PromptResponse(stop_reason="end_turn")

    async def session_cancel(self, params: v1.CancelNotification) -> None:
        logging.info("Received cancel notification for session %s", params.session_id)

    async def extension(self, method: str, params: dict[str, Any]) -> object:
        logging.info("Received extension method call: %s", method)
        return {"example": "response"}


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    run_agent(ExampleAgent())
