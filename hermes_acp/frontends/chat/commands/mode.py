"""/mode: the option `mode`."""

from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def choose(desk: Desk, words: str) -> None:
    """Set it, or show what there is."""
    await desk.set_option("mode", words)


COMMAND = ChatCommand("Choose what is asked about", choose, hint="name or number", option="mode")
