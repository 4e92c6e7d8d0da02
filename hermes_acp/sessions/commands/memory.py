"""`/memory`: show the notes that wait for approval; approve or reject them."""

from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.memory.memory_notes import settle_pending
from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """List the waiting notes, or approve or reject those that `words` name."""
    return await run_sync(settle_pending, services.home, words)


COMMAND = PromptCommand(
    "Show the notes that wait for your approval, approve or reject them", "approve ID, or reject ID", run
)
