"""/resume: open a stored session."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def resume(context: CommandContext, words: str) -> None:
    """Open a session by its number in the last list, or by its ID."""
    if not words:
        await context.tell(messages.WHICH_TO_RESUME, "yellow")
        return
    is_number = words.isdecimal() and 1 <= int(words) <= len(context.listed)
    await context.switch(
        SessionRequest("stored", context.listed[int(words) - 1].session_id if is_number else words)
    )


COMMAND = ChatCommand(messages.DESCRIPTIONS["resume"], resume, hint=messages.HINT_SESSION, needs_rest=True)
