"""Let the person pick one of the stored sessions from a numbered list."""

from typing import Final, cast

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import CommandContext
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line
from hermes_acp.frontends.chat.screens.screen import Gesture
from hermes_protocol import v1

MAX_SHOWN: Final = 20
MAX_TITLE_LENGTH: Final = 60
MAX_PROMPT_LENGTH: Final = 40


async def show_sessions(context: CommandContext, listed: list[v1.SessionInfo]) -> None:
    """Show a numbered list of the latest sessions; later commands accept these numbers."""
    context.listed = listed[:MAX_SHOWN]
    open_now = context.link.current
    rows = [
        _row(number, info, open_now.id if open_now else "") for number, info in enumerate(context.listed, 1)
    ]
    await context.show("\n".join(rows))


async def pick_session(context: CommandContext, question: str) -> tuple[str, str]:
    """Ask for a number in the list; return the letter before the number and the session ID, or two empty strings."""
    if not context.screen.can_ask:
        return "", ""
    line = await context.screen.read_line(f"  {question}", is_expected=True)
    if isinstance(line, Gesture) or not line.strip():
        return "", ""
    prefix = "f" if line.strip().startswith("f") else ""
    number = line.strip().removeprefix("f").strip()
    if not (number.isdecimal() and 1 <= int(number) <= len(context.listed)):
        await context.tell(messages.not_listed(number, len(context.listed)), "yellow")
        return "", ""
    return prefix, context.listed[int(number) - 1].session_id


async def pick_at_start(context: CommandContext, listed: list[v1.SessionInfo]) -> str:
    """Ask which session to start with; return its ID, or an empty string for a new one."""
    used = [info for info in listed if info.title]
    if not used:
        await context.tell(messages.NO_SESSIONS_HERE)
        return ""
    await show_sessions(context, used)
    return (await pick_session(context, messages.PICK_AT_START))[1]


def _row(number: int, info: v1.SessionInfo, open_id: str) -> str:
    parts = [
        clip(sanitize_line(info.title or messages.NO_TITLE), MAX_TITLE_LENGTH),
        (info.updated_at or "")[:16].replace("T", " "),
        f"“{prompt}”" if (prompt := _first_prompt(info)) else "",
        messages.OPEN_NOW if info.session_id == open_id else "",
    ]
    return f"{number}. {' — '.join(part for part in parts if part)}"


def _first_prompt(info: v1.SessionInfo) -> str:
    """Return the first prompt of a session, unless it is the title."""
    own = info.meta.get("hermes") if isinstance(info.meta, dict) else None
    said = cast("dict[str, object]", own).get("firstPrompt") if isinstance(own, dict) else None
    return clip(sanitize_line(said), MAX_PROMPT_LENGTH) if isinstance(said, str) else ""
