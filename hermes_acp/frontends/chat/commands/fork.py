"""/fork: a copy of the open session."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext


async def fork(context: CommandContext, words: str) -> None:
    """Go on in a copy; the session itself stays as it is."""
    await context.switch(SessionRequest("fork", (await context.link.session()).id))


COMMAND = ChatCommand(messages.DESCRIPTIONS["fork"], fork, needs_rest=True)
