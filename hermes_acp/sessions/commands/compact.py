"""`/compact`: summarise the older part of the conversation."""

from typing import TYPE_CHECKING

from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """Have the model summarise the conversation. `words` describe what the summary must keep."""
    from hermes_acp.agent.compaction.history_compaction import compact, to_markdown

    return to_markdown(await compact(turn, "asked", words), turn.record.messages)


COMMAND = PromptCommand("Summarise the older part of the conversation", "what the summary must keep", run)
