"""/effort: the option `effort`."""

from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def choose(desk: Desk, words: str) -> None:
    """Set it, or show what there is."""
    await desk.set_option("effort", words)


COMMAND = ChatCommand("Choose how much the model reasons", choose, hint="name or number", option="effort")
