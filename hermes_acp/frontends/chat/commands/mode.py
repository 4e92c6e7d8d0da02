"""/mode: the option `mode`."""

from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def choose(context: CommandContext, words: str) -> None:
    """Set it, or show what there is."""
    await context.set_option("mode", words)


COMMAND = ChatCommand("Choose what is asked about", choose, hint="name or number", option="mode")
