"""/sessions: the sessions of this folder, by number."""

from hermes_acp_client.errors import AgentError

from hermes_acp.faces.chat.lettering import clip, harmless_line
from hermes_acp.faces.chat.link import Wish
from hermes_acp.faces.chat.screen import Gesture
from hermes_acp.faces.chat.slash import ChatCommand, Desk
from hermes_protocol import v1

MOST_SHOWN = 20
LONGEST_TITLE = 60


async def choose(desk: Desk, words: str) -> None:
    """List them and open the one that is chosen, or a copy of it."""
    try:
        listed = await (await desk.link.agent()).list_sessions(None if words == "all" else desk.cwd)
    except AgentError as error:
        await desk.tell(error.sentence, "red")
        return
    desk.listed = listed[:MOST_SHOWN]
    if not desk.listed:
        await desk.tell("No session was held in this folder yet.")
        return
    open_now = desk.link.current
    rows = [_row(number, info, open_now.id if open_now else "") for number, info in enumerate(desk.listed, 1)]
    await desk.show("\n".join(rows))
    if not desk.screen.can_ask:
        return
    line = await desk.screen.read_line("  Open which? (number · f number opens a copy · Enter stays)")
    if isinstance(line, Gesture) or not line.strip():
        return
    number = line.strip().removeprefix("f").strip()
    if not (number.isdecimal() and 1 <= int(number) <= len(desk.listed)):
        await desk.tell(f"There is no session {line.strip()!r} in the list.", "yellow")
        return
    kind = "fork" if line.strip().startswith("f") else "stored"
    await desk.switch(Wish(kind, desk.listed[int(number) - 1].session_id))


def _row(number: int, info: v1.SessionInfo, open_id: str) -> str:
    title = clip(harmless_line(info.title or "(no title)"), LONGEST_TITLE)
    when = (info.updated_at or "")[:16].replace("T", " ")
    return f"{number}. {title} — {when}{' — open' if info.session_id == open_id else ''}"


COMMAND = ChatCommand(
    "List the sessions of this folder; open or copy one", choose, hint="all", needs_rest=True
)
