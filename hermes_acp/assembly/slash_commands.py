"""The slash commands offered in every session.

Knows: their names and what answers them. Does not know: how an editor lists them.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from hermes_acp.assembly.outfitter import Outfitter
from hermes_acp.core.record import Record
from hermes_acp.sessions.commands import Command, Commands, Errand

if TYPE_CHECKING:
    from hermes_acp.agent.turn import Turn


def slash_commands(outfitter: Outfitter, home: Path) -> Commands:
    """Gather the commands; `home` is the user's own folder."""

    async def answer_status(record: Record) -> str:
        from hermes_acp.sessions.answers import status_text

        await outfitter.kit()
        return status_text(record, outfitter.models())

    async def answer_context(record: Record) -> str:
        return await anyio.to_thread.run_sync(_tell_context, record.cwd, home)

    about_context = "Show which context files are in force and what the scanner found"
    return Commands(
        (
            Command("status", "Show the model, the mode and what the session has used", answer_status),
            Command("context", about_context, answer_context),
        ),
        (
            Errand(
                "compact", "Sum up the older part of the conversation", "what the summary must keep", _compact
            ),
        ),
    )


def _tell_context(cwd: str, home: Path) -> str:
    from hermes_acp.knowledge.allowances import read_allowed
    from hermes_acp.knowledge.context_files import gather
    from hermes_acp.sessions.answers import context_text

    return context_text(gather(cwd, allowed=read_allowed(home)))


async def _compact(turn: "Turn", wish: str) -> str:
    from hermes_acp.agent.compaction import compact, told

    return told(await compact(turn, "asked", wish), turn.record.messages)
