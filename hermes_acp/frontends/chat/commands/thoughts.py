"""/thoughts: the last thought, unfolded."""

from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def show(context: CommandContext, words: str) -> None:
    """Show all of it."""
    thought = context.narrator.last_thought
    if not thought:
        await context.tell(messages.NO_THOUGHTS)
        return
    await context.draw(Text(thought, style="dim italic"))


COMMAND = ChatCommand(messages.DESCRIPTIONS["thoughts"], show)
