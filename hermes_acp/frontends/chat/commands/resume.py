"""/resume: a stored session."""

from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def resume(context: CommandContext, words: str) -> None:
    """Open a session by its number in the last list, or by its id."""
    if not words:
        await context.tell("Say which: a number of `/sessions`, or an id.", "yellow")
        return
    is_number = words.isdecimal() and 1 <= int(words) <= len(context.listed)
    await context.switch(
        SessionRequest("stored", context.listed[int(words) - 1].session_id if is_number else words)
    )


COMMAND = ChatCommand("Open a stored session", resume, hint="number or id", needs_rest=True)
