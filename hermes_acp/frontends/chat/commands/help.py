"""/help: commands and keys."""

from hermes_acp.core.drawers import Drawer
from hermes_acp.faces.chat.lettering import harmless_line
from hermes_acp.faces.chat.slash import ChatCommand, Desk

KEYS = """**Keys**

- Enter sends; Alt+Enter begins a new line
- Tab completes; `/` lists commands, `@` names a file
- Ctrl+C stops the turn, twice it leaves; Ctrl+D leaves
- Ctrl+R searches what was typed here before
- what is sent while the agent works waits or steers (`/options during_turn`)"""


async def show(desk: Desk, words: str) -> None:
    """Show what there is."""
    drawer: Drawer[ChatCommand] = Drawer("hermes_acp.faces.chat.commands", "COMMAND")
    own = [f"- `/{name}` {drawer.open(name).description}" for name in drawer]
    agents = [
        f"- `/{harmless_line(command.name)}` {harmless_line(command.description)}"
        for command in desk.standing.commands
    ]
    await desk.show("\n".join(["**Chat**\n", *own, "\n**Agent**\n", *agents, "", KEYS]))


COMMAND = ChatCommand("Show commands and keys", show)
