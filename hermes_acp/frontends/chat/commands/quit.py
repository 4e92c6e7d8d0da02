"""/quit: the end of the chat."""

from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def leave(desk: Desk, words: str) -> None:
    """Leave; the session stays stored."""
    desk.is_leaving = True


COMMAND = ChatCommand("Leave; the session stays stored", leave)
