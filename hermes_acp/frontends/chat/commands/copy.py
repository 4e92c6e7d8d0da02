"""/copy: copy the last answer to the clipboard."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def copy(context: CommandContext, words: str) -> None:
    """Copy the Markdown source of the answer to the terminal's clipboard."""
    answer = context.session_renderer.last_answer
    if not answer:
        await context.tell(messages.NO_ANSWER, "yellow")
    elif context.screen.copy(answer):
        await context.tell(messages.COPIED)
    else:
        await context.tell(messages.NO_CLIPBOARD, "yellow")


COMMAND = ChatCommand(messages.DESCRIPTIONS["copy"], copy)
