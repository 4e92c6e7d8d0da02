"""The slash commands offered in every session.

Knows: their names and what answers them. Does not know: how an editor lists them.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio.to_thread
from msgspec import Struct

from hermes_acp.assembly.checkpointing import Checkpointing
from hermes_acp.assembly.context_book import ContextBook
from hermes_acp.assembly.doorman import HINT as MCP_HINT
from hermes_acp.assembly.doorman import Doorman
from hermes_acp.assembly.learning import Learning
from hermes_acp.assembly.librarian import Librarian
from hermes_acp.assembly.notes import settle_pending
from hermes_acp.assembly.outfitter import Outfitter
from hermes_acp.assembly.recollection import Recollection
from hermes_acp.assembly.trustee import Trustee
from hermes_acp.core.record import Record
from hermes_acp.sessions.commands import SlashCommand, SlashCommands, TurnCommand
from hermes_acp.sessions.undo import HINT, NOTHING

if TYPE_CHECKING:
    from hermes_acp.agent.turn import Turn
    from hermes_acp.core.closures import Closure

ABOUT_MCP: Final = "Show how the MCP servers stand, sign in at one or connect again"
ABOUT_MEMORY: Final = "Show the notes that wait for your approval, approve or reject them"
ABOUT_SKILLS: Final = "Show the skills, whose they are, whether they are trusted and how they did"
FAR_CONTEXT: Final = (
    "The files of this session are on the backend {backend}: no context file is in force. Instructions for agents that "
    "lie there, such as AGENTS.md, are read by the agent when it needs them; those of the folder here do not count."
)


class Hands(Struct, frozen=True):
    """Whoever answers commands in the house."""

    outfitter: Outfitter
    trustee: Trustee
    context: ContextBook
    librarian: Librarian
    learning: Learning
    recollection: Recollection
    doorman: Doorman
    elsewhere: Callable[[Record], str]
    """Gives the backend that has a session's files, where that is not this machine."""


def slash_commands(hands: Hands, home: Path, checkpointing: Checkpointing) -> SlashCommands:
    """Gather the commands; `home` is the user's own folder."""
    outfitter, trustee = hands.outfitter, hands.trustee

    async def undo(turn: "Turn", words: str) -> str:
        undoing = checkpointing.undoing(turn.record.session_id, turn.emit)
        answer = await undoing.undo(words)
        if not undoing.is_done or answer == NOTHING:
            return answer
        learned = await hands.learning.take_undo(turn.record.session_id)
        return f"{answer}\n\n{learned}" if learned else answer

    async def redo(turn: "Turn", words: str) -> str:
        return await checkpointing.undoing(turn.record.session_id, turn.emit).redo(words)

    async def answer_status(record: Record) -> str:
        from hermes_acp.sessions.answers import status_text

        await outfitter.kit()
        return status_text(record, outfitter.models())

    async def answer_context(record: Record) -> str:
        if backend := hands.elsewhere(record):
            return FAR_CONTEXT.format(backend=backend)
        policy = (await outfitter.kit()).policy
        return await anyio.to_thread.run_sync(
            _tell_context, record, home, policy.unread(record.cwd), hands.context
        )

    async def answer_skills(record: Record) -> str:
        from hermes_acp.knowledge.skills.overview import told

        place, likeness = hands.librarian.place_of(record), hands.recollection.kinship
        return told(await hands.librarian.overview(place, trustee, likeness))

    about_context = "Show which context files are in force and what the scanner found"
    return SlashCommands(
        (
            SlashCommand("status", "Show the model, the mode and what the session has used", answer_status),
            SlashCommand("context", about_context, answer_context),
            SlashCommand("skills", ABOUT_SKILLS, answer_skills),
        ),
        (
            TurnCommand(
                "compact", "Sum up the older part of the conversation", "what the summary must keep", _compact
            ),
            TurnCommand("undo", "Undo what the last turn changed in files", HINT, undo),
            TurnCommand(
                "redo", "Take back the last undo", "force, to overwrite what others changed since", redo
            ),
            TurnCommand(
                "trust",
                "Show what this folder brings along, and trust it or not",
                "no, to trust nothing",
                partial(_settle_trust, trustee),
            ),
            TurnCommand("memory", ABOUT_MEMORY, "approve ID, or reject ID", partial(_settle_memory, home)),
            TurnCommand("mcp", ABOUT_MCP, MCP_HINT, hands.doorman.answer, needs_servers=True),
        ),
    )


def _tell_context(record: Record, home: Path, unread: "tuple[Closure, ...]", context: ContextBook) -> str:
    from hermes_acp.assembly.context_watch import consent_of
    from hermes_acp.knowledge.allowances import read_allowed
    from hermes_acp.knowledge.context_files import gather, gather_below
    from hermes_acp.knowledge.context_search import Place, folders_below
    from hermes_acp.sessions.answers import context_text

    place = Place(record.cwd, record.roots[1:], str(home), unread)
    allowed = read_allowed(home)
    folders = folders_below(place, map(os.path.dirname, tuple(record.seen)))
    admits = consent_of(record, context).admits
    return context_text(
        gather(place, allowed=allowed, admits=admits), gather_below(place, folders, allowed, admits)
    )


async def _compact(turn: "Turn", wish: str) -> str:
    from hermes_acp.agent.compaction import compact, told

    return told(await compact(turn, "asked", wish), turn.record.messages)


async def _settle_memory(home: Path, turn: "Turn", wish: str) -> str:
    return await anyio.to_thread.run_sync(settle_pending, home, wish)


async def _settle_trust(trustee: Trustee, turn: "Turn", wish: str) -> str:
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
