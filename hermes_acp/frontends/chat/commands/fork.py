"""/fork: continue in a copy of the session."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def fork(context: CommandContext, words: str) -> None:
    """Open a copy; the session itself is unchanged."""
    await context.switch(SessionRequest("fork", (await context.link.session()).id))


COMMAND = ChatCommand(messages.DESCRIPTIONS["fork"], fork, needs_idle=True)
