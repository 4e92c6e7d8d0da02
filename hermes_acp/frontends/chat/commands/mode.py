"""/mode: set the permission mode."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def choose(context: CommandContext, words: str) -> None:
    """Set the option, or list its values."""
    await context.set_option("mode", words)


COMMAND = ChatCommand(messages.DESCRIPTIONS["mode"], choose, hint=messages.HINT_VALUE, option="mode")
