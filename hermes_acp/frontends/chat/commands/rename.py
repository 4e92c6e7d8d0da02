"""/rename: give the session another title."""

from hermes_acp_client.errors import AgentError

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line
from hermes_protocol import v1


async def rename(context: CommandContext, words: str) -> None:
    """Set the title."""
    if not words:
        await context.tell(messages.WHICH_TITLE, "yellow")
        return
    agent, session = await context.link.agent(), await context.link.session()
    params = v1.SetSessionTitleRequest(session_id=session.id, title=words)
    try:
        answer = await agent.call("session/set_title", params, v1.SetSessionTitleResponse)
    except AgentError as error:
        await context.tell(error.sentence, "red")
        return
    await context.tell(messages.renamed(sanitize_line(answer.title or words)))


COMMAND = ChatCommand(messages.DESCRIPTIONS["rename"], rename, hint=messages.HINT_TITLE)
