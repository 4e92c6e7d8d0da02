"""/output: show the full output of the last tool call."""

from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def show(context: CommandContext, words: str) -> None:
    """Show the output."""
    card = context.session_renderer.last_card
    if card is None or not card.text:
        await context.tell(messages.NO_OUTPUT)
        return
    await context.draw(Text(f"{card.title}\n{card.text}"))


COMMAND = ChatCommand(messages.DESCRIPTIONS["output"], show)
