"""/sessions: list the sessions of this folder; resume or copy one."""

from hermes_acp_client.errors import AgentError

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line
from hermes_acp.frontends.chat.screens.screen import Gesture
from hermes_protocol import v1

MAX_SHOWN = 20
MAX_TITLE_LENGTH = 60


async def choose(context: CommandContext, words: str) -> None:
    """List the sessions, and open the chosen one or a copy of it."""
    try:
        listed = await (await context.link.agent()).list_sessions(None if words == "all" else context.cwd)
    except AgentError as error:
        await context.tell(error.sentence, "red")
        return
    context.listed = listed[:MAX_SHOWN]
    if not context.listed:
        await context.tell(messages.NO_SESSIONS)
        return
    open_now = context.link.current
    rows = [
        _row(number, info, open_now.id if open_now else "") for number, info in enumerate(context.listed, 1)
    ]
    await context.show("\n".join(rows))
    if not context.screen.can_ask:
        return
    line = await context.screen.read_line(f"  {messages.PICK_SESSION}", is_expected=True)
    if isinstance(line, Gesture) or not line.strip():
        return
    number = line.strip().removeprefix("f").strip()
    if not (number.isdecimal() and 1 <= int(number) <= len(context.listed)):
        await context.tell(messages.not_listed(number, len(context.listed)), "yellow")
        return
    kind = "fork" if line.strip().startswith("f") else "stored"
    await context.switch(SessionRequest(kind, context.listed[int(number) - 1].session_id))


def _row(number: int, info: v1.SessionInfo, open_id: str) -> str:
    title = clip(sanitize_line(info.title or messages.NO_TITLE), MAX_TITLE_LENGTH)
    when = (info.updated_at or "")[:16].replace("T", " ")
    return f"{number}. {title} — {when}{f' — {messages.OPEN_NOW}' if info.session_id == open_id else ''}"


COMMAND = ChatCommand(messages.DESCRIPTIONS["sessions"], choose, hint=messages.HINT_ALL, needs_rest=True)
