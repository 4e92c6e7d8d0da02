"""List the latest sessions, for a person to choose from."""

from hermes_acp_client.agent import Agent
from msgspec import UNSET

from hermes_protocol import v1


async def latest_sessions(agent: Agent, cwd: str | None) -> list[v1.SessionInfo]:
    """List the latest sessions of a folder, or of all folders, with their first prompts. Raises AgentError."""
    wanted = {"hermes": {"firstPrompts": True}}
    request = v1.ListSessionsRequest(cwd=cwd or UNSET, meta=wanted)
    return (await agent.call("session/list", request, v1.ListSessionsResponse)).sessions
