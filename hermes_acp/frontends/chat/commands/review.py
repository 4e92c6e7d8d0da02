"""/review: review edits that were made without asking, hunk by hunk."""

from typing import Final

from hermes_acp_client.agent import Agent
from hermes_acp_client.errors import AgentError

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.edit_reviews import (
    Verdict,
    diff_of,
    hunk_of,
    open_edits,
    submit_verdict,
)
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.diff_rendering import headline, render_hunk
from hermes_acp.frontends.chat.screens.screen import Choice, Gesture
from hermes_protocol import own

CHOICES: Final = tuple(map(Choice, ("y", "n", "s", "a", "d", "q")))


async def review(context: CommandContext, words: str) -> None:
    """Review the open edits, file by file."""
    agent = await context.link.agent()
    if not context.link.supports_reviews:
        await context.tell(messages.NO_REVIEWS, "yellow")
        return
    try:
        files = await _open_files(context, agent)
        if not files:
            await context.tell(messages.NOTHING_TO_REVIEW)
        elif context.screen.can_ask:
            for file in files:
                if not await _review_file(context, agent, file.path):
                    return
        else:
            await context.draw(*(headline(diff_of(file), context.cwd) for file in files))
    except AgentError as error:
        await context.tell(error.sentence, "red")


async def _review_file(context: CommandContext, agent: Agent, path: str) -> bool:
    """Review one file; return whether to continue with the next one.

    The list is fetched again after each answer, because reviewed hunks leave it; they still count in the numbering.
    """
    number = reviewed = 0
    while True:
        file = next((each for each in await _open_files(context, agent) if each.path == path), None)
        if file is None or number >= len(file.hunks):
            return True
        diff = diff_of(file)
        shown = render_hunk(diff, hunk_of(file.hunks[number]))
        await context.draw(headline(diff, context.cwd), shown)
        count = reviewed + len(file.hunks)
        question = messages.keep_hunk(reviewed + number + 1, count)
        key = await context.screen.read_key(f"  {question} ", CHOICES, "in_series")
        if isinstance(key, Gesture) or key == "q":
            return False
        if key == "s":
            number += 1
            continue
        chosen = [number] if key in "yn" else list(range(number, len(file.hunks)))
        verdict = "accepted" if key in "ya" else "rejected"
        await _submit_verdict(context, agent, file, chosen, verdict)
        confirmed = messages.hunks_kept if verdict == "accepted" else messages.hunks_reverted
        await context.tell(confirmed(len(chosen), count), "green" if verdict == "accepted" else "red")
        reviewed += len(chosen)


async def _submit_verdict(
    context: CommandContext, agent: Agent, file: own.EditsListFile, hunks: list[int], verdict: Verdict
) -> None:
    session = await context.link.session()
    await submit_verdict(agent, session.id, file, hunks, verdict)


async def _open_files(context: CommandContext, agent: Agent) -> list[own.EditsListFile]:
    return await open_edits(agent, (await context.link.session()).id)


COMMAND = ChatCommand(messages.DESCRIPTIONS["review"], review)
