"""/help: commands and keys."""

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line

KEYS = """**Keys**

- Enter sends; Alt+Enter begins a new line
- Tab completes; `/` lists commands, `@` names a file
- Ctrl+C stops the turn, twice it leaves; Ctrl+D leaves
- Ctrl+R searches what was typed here before
- what is sent while the agent works waits or steers (`/options during_turn`)"""


async def show(context: CommandContext, words: str) -> None:
    """Show what there is."""
    plugin_folder: PluginFolder[ChatCommand] = PluginFolder("hermes_acp.frontends.chat.commands", "COMMAND")
    own = [f"- `/{name}` {plugin_folder.open(name).description}" for name in plugin_folder]
    agents = [
        f"- `/{sanitize_line(command.name)}` {sanitize_line(command.description)}"
        for command in context.session_status.commands
    ]
    await context.show("\n".join(["**Chat**\n", *own, "\n**Agent**\n", *agents, "", KEYS]))


COMMAND = ChatCommand("Show commands and keys", show)
