"""/new: start a new session."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def begin(context: CommandContext, words: str) -> None:
    """Open a new session; the current one stays stored."""
    await context.begin_session()


COMMAND = ChatCommand(messages.DESCRIPTIONS["new"], begin, needs_idle=True)
