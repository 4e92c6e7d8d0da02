"""/output: all that the last call put out."""

from rich.text import Text

from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def show(desk: Desk, words: str) -> None:
    """Show the whole output."""
    card = desk.narrator.last_card
    if card is None or not card.text:
        await desk.tell("No call put anything out yet.")
        return
    await desk.screen.write(desk.narrator.shown(Text(f"{card.title}\n{card.text}")))


COMMAND = ChatCommand("Show all output of the last call", show)
