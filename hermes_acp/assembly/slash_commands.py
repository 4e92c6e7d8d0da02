"""The slash commands offered in every session.

Knows: their names and what answers them. Does not know: how an editor lists them.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio.to_thread

from hermes_acp.assembly.doorman import HINT as MCP_HINT
from hermes_acp.assembly.doorman import Doorman
from hermes_acp.assembly.outfitter import Outfitter
from hermes_acp.assembly.trustee import Trustee
from hermes_acp.core.record import Record
from hermes_acp.sessions.commands import Command, Commands, Errand
from hermes_acp.sessions.undo import HINT, Undoing
from hermes_acp.storage.checkpoints.keeper import Keeper

if TYPE_CHECKING:
    from hermes_acp.agent.turn import Turn

ABOUT_MCP: Final = "Show how the MCP servers stand, sign in at one or connect again"


def slash_commands(
    outfitter: Outfitter, trustee: Trustee, home: Path, keeper: Keeper, doorman: Doorman
) -> Commands:
    """Gather the commands; `home` is the user's own folder, `keeper` has the checkpoints."""

    async def undo(turn: "Turn", words: str) -> str:
        return await Undoing(keeper, turn.record.session_id, turn.emit).undo(words)

    async def redo(turn: "Turn", words: str) -> str:
        return await Undoing(keeper, turn.record.session_id, turn.emit).redo(words)

    async def answer_status(record: Record) -> str:
        from hermes_acp.sessions.answers import status_text

        await outfitter.kit()
        return status_text(record, outfitter.models())

    async def answer_context(record: Record) -> str:
        return await anyio.to_thread.run_sync(_tell_context, record.cwd, record.roots[1:], home)

    async def settle_trust(turn: "Turn", wish: str) -> str:
        place = turn.record.cwd
        if wish.strip().lower() in ("no", "revoke"):
            trustee.revoke(place)
            return "Nothing that this folder brings along is trusted any more."
        items = trustee.items(place)
        if not items:
            return "This folder brings nothing along that would need to be trusted."
        untrusted = [item for item in items if not trustee.is_trusted(place, item)]
        if not untrusted:
            listed = "\n".join(f"- {item.kind.replace('_', ' ')} {item.name}: {item.about}" for item in items)
            return f"Trusted here, until it changes (`/trust no` ends that):\n{listed}"
        return await trustee.ask(turn.ledger, turn.gate, place, untrusted)

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
            Errand("undo", "Undo what the last turn changed in files", HINT, undo),
            Errand("redo", "Take back the last undo", "force, to overwrite what others changed since", redo),
            Errand(
                "trust",
                "Show what this folder brings along, and trust it or not",
                "no, to trust nothing",
                settle_trust,
            ),
            Errand("mcp", ABOUT_MCP, MCP_HINT, doorman.answer, needs_servers=True),
        ),
    )


def _tell_context(cwd: str, more_roots: tuple[str, ...], home: Path) -> str:
    from hermes_acp.knowledge.allowances import read_allowed
    from hermes_acp.knowledge.context_files import gather
    from hermes_acp.knowledge.context_search import Place
    from hermes_acp.sessions.answers import context_text

    return context_text(gather(Place(cwd, more_roots, str(home)), allowed=read_allowed(home)))


async def _compact(turn: "Turn", wish: str) -> str:
    from hermes_acp.agent.compaction import compact, told

    return told(await compact(turn, "asked", wish), turn.record.messages)
