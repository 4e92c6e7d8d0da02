"""/help: list commands and keys."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import COMMANDS, ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line


async def show(context: CommandContext, words: str) -> None:
    """Show the commands of the chat and the agent, and the keys."""
    own = [f"- `/{name}` {COMMANDS.open(name).description}" for name in COMMANDS]
    agents = [
        f"- `/{sanitize_line(command.name)}` {sanitize_line(command.description)}"
        for command in context.session_status.commands
    ]
    chat, agent = f"{messages.HELP_CHAT}\n", f"\n{messages.HELP_AGENT}\n"
    await context.show("\n".join([chat, *own, agent, *agents, "", messages.HELP_KEYS]))


COMMAND = ChatCommand(messages.DESCRIPTIONS["help"], show)
