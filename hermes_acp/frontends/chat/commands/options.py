"""/options: list the session's options, or set one."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line


async def show(context: CommandContext, words: str) -> None:
    """List all options or, with `NAME VALUE`, set one."""
    name, _, value = words.partition(" ")
    if name:
        await context.set_option(name, value.strip())
        return
    rows = [
        f"- `{sanitize_line(option.id)}` {sanitize_line(option.name)}: **{context.session_status.current(option.id)}**"
        for option in context.session_status.options
    ]
    await context.show("\n".join(rows) or messages.NO_OPTIONS)


COMMAND = ChatCommand(messages.DESCRIPTIONS["options"], show, hint=messages.HINT_OPTION)
