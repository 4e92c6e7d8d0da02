"""/model: the option `model`."""

from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def choose(desk: Desk, words: str) -> None:
    """Set it, or show what there is."""
    await desk.set_option("model", words)


COMMAND = ChatCommand("Choose the model", choose, hint="name or number", option="model")
