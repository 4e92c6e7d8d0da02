"""/quit: leave the chat."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def leave(context: CommandContext, words: str) -> None:
    """Leave the chat; the session stays stored."""
    context.is_leaving = True


COMMAND = ChatCommand(messages.DESCRIPTIONS["quit"], leave)
