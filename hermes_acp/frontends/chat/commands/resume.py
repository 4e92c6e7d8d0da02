"""/resume: a stored session."""

from hermes_acp.faces.chat.link import Wish
from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def resume(desk: Desk, words: str) -> None:
    """Open a session by its number in the last list, or by its id."""
    if not words:
        await desk.tell("Say which: a number of `/sessions`, or an id.", "yellow")
        return
    is_number = words.isdecimal() and 1 <= int(words) <= len(desk.listed)
    await desk.switch(Wish("stored", desk.listed[int(words) - 1].session_id if is_number else words))


COMMAND = ChatCommand("Open a stored session", resume, hint="number or id", needs_rest=True)
