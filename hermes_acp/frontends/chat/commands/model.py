"""/model: the option `model`."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def choose(context: CommandContext, words: str) -> None:
    """Set it, or show what there is."""
    await context.set_option("model", words)


COMMAND = ChatCommand(messages.DESCRIPTIONS["model"], choose, hint=messages.HINT_VALUE, option="model")
