"""/fork: a copy of the open session."""

from hermes_acp.faces.chat.link import Wish
from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def fork(desk: Desk, words: str) -> None:
    """Go on in a copy; the session itself stays as it is."""
    await desk.switch(Wish("fork", (await desk.link.session()).id))


COMMAND = ChatCommand("Go on in a copy of this session", fork, needs_rest=True)
