"""/sessions: list the sessions of this folder; resume or copy one."""

from hermes_acp_client.errors import AgentError

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.agent.session_list import latest_sessions
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.session_picker import pick_session, show_sessions


async def choose(context: CommandContext, words: str) -> None:
    """List the sessions, and open the chosen one or a copy of it."""
    try:
        listed = await latest_sessions(await context.link.agent(), None if words == "all" else context.cwd)
    except AgentError as error:
        await context.tell(error.sentence, "red")
        return
    if not listed:
        await context.tell(messages.NO_SESSIONS)
        return
    await show_sessions(context, listed)
    prefix, session_id = await pick_session(context, messages.PICK_SESSION)
    if session_id:
        await context.switch(SessionRequest("fork" if prefix else "stored", session_id))


COMMAND = ChatCommand(messages.DESCRIPTIONS["sessions"], choose, hint=messages.HINT_ALL, needs_idle=True)
