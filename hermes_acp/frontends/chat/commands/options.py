"""/options: every option of the session."""

from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line


async def show(context: CommandContext, words: str) -> None:
    """List the options, or set one: `/options NAME VALUE`."""
    name, _, value = words.partition(" ")
    if name:
        await context.set_option(name, value.strip())
        return
    rows = [
        f"- `{sanitize_line(option.id)}` {sanitize_line(option.name)}: **{context.session_status.current(option.id)}**"
        for option in context.session_status.options
    ]
    await context.show("\n".join(rows) or "This session has no options.")


COMMAND = ChatCommand("Show every option, or set one", show, hint="name value")
