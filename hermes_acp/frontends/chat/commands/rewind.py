"""/rewind: go back to an earlier prompt, in a copy of the session."""

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import SessionRequest
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line
from hermes_acp.frontends.chat.screens.screen import Gesture

MAX_SHOWN = 20
MAX_PROMPT_LENGTH = 70


async def rewind(context: CommandContext, words: str) -> None:
    """List the prompts, latest first; copy the session up to the chosen one, and put that one in the input line."""
    prompts = list(reversed(context.link.marks.recorded))[:MAX_SHOWN]
    if not prompts:
        await context.tell(messages.NOTHING_TO_REWIND)
        return
    if not words:
        rows = [
            f"{number}. {clip(sanitize_line(prompt.text), MAX_PROMPT_LENGTH)}"
            for number, prompt in enumerate(prompts, 1)
        ]
        await context.show("\n".join(rows))
        if not context.screen.can_ask:
            return
        line = await context.screen.read_line(f"  {messages.PICK_PROMPT}", is_expected=True)
        words = "" if isinstance(line, Gesture) else line.strip()
    if not words:
        return
    if not (words.isdecimal() and 1 <= int(words) <= len(prompts)):
        await context.tell(messages.not_listed(words, len(prompts)), "yellow")
        return
    chosen = prompts[int(words) - 1]
    session = await context.link.session()
    if await context.switch(SessionRequest("fork", session.id, before=chosen.message_id)):
        context.screen.put_back(chosen.text)
        await context.tell(messages.REWOUND)


COMMAND = ChatCommand(messages.DESCRIPTIONS["rewind"], rewind, hint=messages.HINT_PROMPT, needs_idle=True)
