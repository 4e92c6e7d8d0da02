"""/new: a new session."""

from hermes_acp.faces.chat.link import Wish
from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def begin(desk: Desk, words: str) -> None:
    """Open one; the session so far stays stored."""
    await desk.switch(Wish())


COMMAND = ChatCommand("Begin a new session", begin, needs_rest=True)
