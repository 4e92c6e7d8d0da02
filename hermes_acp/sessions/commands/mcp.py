"""`/mcp`: show the state of the MCP servers, sign in, sign out or reconnect."""

from typing import TYPE_CHECKING

from hermes_acp.mcp.sign_in.oauth_coordinator import HINT
from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """Carry out the request in `words`, or list the servers."""
    return await services.oauth_coordinator.answer(turn.record.session_id, turn.gate, words)


COMMAND = PromptCommand(
    "Show the status of the MCP servers, sign in to one or reconnect", HINT, run, needs_servers=True
)
