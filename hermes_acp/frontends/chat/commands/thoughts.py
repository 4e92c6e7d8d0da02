"""/thoughts: the last thought, unfolded."""

from rich.text import Text

from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def show(desk: Desk, words: str) -> None:
    """Show all of it."""
    thought = desk.narrator.last_thought
    if not thought:
        await desk.tell("Nothing was thought aloud yet.")
        return
    await desk.screen.write(desk.narrator.shown(Text(thought, style="dim italic")))


COMMAND = ChatCommand("Show the last thought unfolded", show)
