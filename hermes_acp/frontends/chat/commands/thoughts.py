"""/thoughts: show the model's last thoughts in full."""

from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def show(context: CommandContext, words: str) -> None:
    """Show the thoughts."""
    thought = context.session_renderer.last_thought
    if not thought:
        await context.tell(messages.NO_THOUGHTS)
        return
    await context.draw(Text(thought, style="dim italic"))


COMMAND = ChatCommand(messages.DESCRIPTIONS["thoughts"], show)
