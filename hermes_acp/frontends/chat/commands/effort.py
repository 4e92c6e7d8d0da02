"""/effort: set the reasoning effort."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def choose(context: CommandContext, words: str) -> None:
    """Set the option, or list its values."""
    await context.set_option("effort", words)


COMMAND = ChatCommand(messages.DESCRIPTIONS["effort"], choose, hint=messages.HINT_VALUE, option="effort")
