"""/review: edits that were made without a question, judged hunk by hunk."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from hermes_acp_client.agent import Agent
from hermes_acp_client.errors import AgentError

from hermes_acp.core.hunks import Hunk
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.diff_rendering import drawn_hunk, headline
from hermes_acp.frontends.chat.screens.screen import Gesture
from hermes_protocol import own, v1

KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "y": "keep",
        "n": "take back",
        "s": "later",
        "a": "keep the rest of the file",
        "d": "take the rest of the file back",
        "q": "leave",
    }
)
ASKED: Final = (
    "  Keep hunk {number} of {count}? y yes · n take it back · s later · a/d all the rest · q leave "
)


async def review(context: CommandContext, words: str) -> None:
    """Go through them file by file, or say that there are none."""
    agent = await context.link.agent()
    if not context.link.supports_reviews:
        await context.tell("This agent keeps no edits for review.", "yellow")
        return
    try:
        files = await _open_files(context, agent)
        if not files:
            await context.tell("No edit was made unasked, or all were judged.")
        elif context.screen.can_ask:
            for file in files:
                if not await _judge_file(context, agent, file.path):
                    return
        else:
            await context.screen.write(
                context.narrator.shown(*(headline(_diff(file), context.cwd) for file in files))
            )
    except AgentError as error:
        await context.tell(error.sentence, "red")


async def _judge_file(context: CommandContext, agent: Agent, path: str) -> bool:
    """Judge one file, each hunk at once; what is judged leaves the list. Tell whether to go on."""
    number = 0
    while True:
        file = next((each for each in await _open_files(context, agent) if each.path == path), None)
        if file is None or number >= len(file.hunks):
            return True
        diff = _diff(file)
        shown = drawn_hunk(diff, _hunk(file.hunks[number]))
        await context.screen.write(context.narrator.shown(headline(diff, context.cwd), shown))
        question = ASKED.format(number=number + 1, count=len(file.hunks))
        key = await context.screen.read_key(question, KEYS)
        if isinstance(key, Gesture) or key == "q":
            return False
        if key == "s":
            number += 1
            continue
        chosen = [number] if key in "yn" else list(range(number, len(file.hunks)))
        await _judge(context, agent, file, chosen, "accepted" if key in "ya" else "rejected")


async def _judge(
    context: CommandContext,
    agent: Agent,
    file: own.EditsListFile,
    hunks: list[int],
    verdict: Literal["accepted", "rejected"],
) -> None:
    session = await context.link.session()
    params = own.EditsJudgeParams(
        session_id=session.id, verdict=verdict, path=file.path, hunks=hunks, revision=file.revision
    )
    await agent.call("_hermes/edits/judge", params, own.EditsJudgeResult)
    kept = "Kept" if verdict == "accepted" else "Taken back"
    style = "green" if verdict == "accepted" else "red"
    await context.tell(f"{kept}: {len(hunks)} of {len(file.hunks)} hunks", style)


async def _open_files(context: CommandContext, agent: Agent) -> list[own.EditsListFile]:
    session = await context.link.session()
    listed = await agent.call(
        "_hermes/edits/list", own.EditsListParams(session_id=session.id), own.EditsListResult
    )
    return listed.files


def _diff(file: own.EditsListFile) -> v1.Diff:
    return v1.Diff(path=file.path, old_text=file.old_text, new_text=file.new_text or "")


def _hunk(hunk: own.EditsListFileHunk) -> Hunk:
    return Hunk(hunk.old_start, tuple(hunk.old_lines), hunk.new_start, tuple(hunk.new_lines))


COMMAND = ChatCommand("Judge edits that were made without a question, hunk by hunk", review)
