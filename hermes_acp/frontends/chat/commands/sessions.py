"""/sessions: the sessions of this folder, by number."""

from hermes_acp_client.errors import AgentError

from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line
from hermes_acp.frontends.chat.screens.screen import Gesture
from hermes_protocol import v1

MAX_SHOWN = 20
MAX_TITLE_LENGTH = 60


async def choose(context: CommandContext, words: str) -> None:
    """List them and open the one that is chosen, or a copy of it."""
    try:
        listed = await (await context.link.agent()).list_sessions(None if words == "all" else context.cwd)
    except AgentError as error:
        await context.tell(error.sentence, "red")
        return
    context.listed = listed[:MAX_SHOWN]
    if not context.listed:
        await context.tell("No session was held in this folder yet.")
        return
    open_now = context.link.current
    rows = [
        _row(number, info, open_now.id if open_now else "") for number, info in enumerate(context.listed, 1)
    ]
    await context.show("\n".join(rows))
    if not context.screen.can_ask:
        return
    line = await context.screen.read_line("  Open which? (number · f number opens a copy · Enter stays)")
    if isinstance(line, Gesture) or not line.strip():
        return
    number = line.strip().removeprefix("f").strip()
    if not (number.isdecimal() and 1 <= int(number) <= len(context.listed)):
        await context.tell(f"There is no session {line.strip()!r} in the list.", "yellow")
        return
    kind = "fork" if line.strip().startswith("f") else "stored"
    await context.switch(SessionRequest(kind, context.listed[int(number) - 1].session_id))


def _row(number: int, info: v1.SessionInfo, open_id: str) -> str:
    title = clip(sanitize_line(info.title or "(no title)"), MAX_TITLE_LENGTH)
    when = (info.updated_at or "")[:16].replace("T", " ")
    return f"{number}. {title} — {when}{' — open' if info.session_id == open_id else ''}"


COMMAND = ChatCommand(
    "List the sessions of this folder; open or copy one", choose, hint="all", needs_rest=True
)
