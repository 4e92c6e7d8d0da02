"""/resume: open a stored session."""

from hermes_acp_client.errors import AgentError

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.agent.session_list import latest_sessions
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.session_picker import pick_session, show_sessions


async def resume(context: CommandContext, words: str) -> None:
    """Open a session by its number in the last list or by its ID; without either, list the sessions and ask."""
    if words.isdecimal() and 1 <= int(words) <= len(context.listed):
        words = context.listed[int(words) - 1].session_id
    elif not words:
        words = await _picked(context)
    if words:
        await context.switch(SessionRequest("stored", words))


async def _picked(context: CommandContext) -> str:
    try:
        listed = await latest_sessions(await context.link.agent(), context.cwd)
    except AgentError as error:
        await context.tell(error.sentence, "red")
        return ""
    used = [info for info in listed if info.title]
    if not used:
        await context.tell(messages.NO_SESSIONS_HERE)
        return ""
    await show_sessions(context, used)
    return (await pick_session(context, messages.PICK_TO_RESUME))[1]


COMMAND = ChatCommand(messages.DESCRIPTIONS["resume"], resume, hint=messages.HINT_SESSION, needs_idle=True)
