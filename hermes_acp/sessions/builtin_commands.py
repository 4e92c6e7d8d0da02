"""The slash commands offered in every session.

Knows: their names and what answers them. Does not know: how an editor lists them.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio.to_thread
from msgspec import Struct

from hermes_acp.agent.setup.configuration import Configuration
from hermes_acp.context.context_approvals import ContextApprovals
from hermes_acp.core.record import Record
from hermes_acp.mcp.sign_in.oauth_coordinator import HINT as MCP_HINT
from hermes_acp.mcp.sign_in.oauth_coordinator import OAuthCoordinator
from hermes_acp.memory.memory_notes import settle_pending
from hermes_acp.policy.workspace_trust import WorkspaceTrust
from hermes_acp.sessions.checkpoint_service import CheckpointService
from hermes_acp.sessions.session_commands import SlashCommand, SlashCommands, TurnCommand
from hermes_acp.sessions.turn_undo import HINT, NOTHING
from hermes_acp.skills.skill_learning import SkillLearning
from hermes_acp.skills.skill_service import SkillService

if TYPE_CHECKING:
    from hermes_acp.agent.turn import Turn
    from hermes_acp.core.denied_paths import DeniedPath
    from hermes_acp.skills.suggestions.lexical_similarity import SkillSimilarityMeasure

ABOUT_CONTEXT: Final = "Show which context files are in force and what the scanner found"
ABOUT_MCP: Final = "Show how the MCP servers stand, sign in at one or connect again"
ABOUT_TRUST: Final = "Show what this folder brings along, and trust it or not"
COMPACT_HINT: Final = "what the summary must keep"
REDO_HINT = "force, to overwrite what others changed since"
ABOUT_MEMORY: Final = "Show the notes that wait for your approval, approve or reject them"
ABOUT_SKILLS: Final = "Show the skills, whose they are, whether they are trusted and how they did"
FAR_CONTEXT: Final = (
    "The files of this session are on the backend {backend}: no context file is in force. Instructions for agents that "
    "lie there, such as AGENTS.md, are read by the agent when it needs them; those of the folder here do not count."
)


class CommandServices(Struct, frozen=True):
    """Whoever answers commands.

    `elsewhere` gives the backend that has a session's files, where that is not this machine; `similarity` gives what
    tells which skills are much alike. `home` is the user's own folder.
    """

    configuration: Configuration
    workspace_trust: WorkspaceTrust
    context: ContextApprovals
    skill_service: SkillService
    learning: SkillLearning
    oauth_coordinator: OAuthCoordinator
    checkpoint_service: CheckpointService
    elsewhere: Callable[[Record], str]
    similarity: "Callable[[], SkillSimilarityMeasure]"
    home: Path


def builtin_commands(services: CommandServices) -> SlashCommands:
    """Return the commands, in the order they are offered."""
    return SlashCommands(_answered_commands(services), _turn_commands(services))


def _answered_commands(services: CommandServices) -> tuple[SlashCommand, ...]:
    configuration = services.configuration

    async def status(record: Record) -> str:
        from hermes_acp.sessions.command_answers import status_text

        await configuration.deps()
        return status_text(record, configuration.models())

    async def context(record: Record) -> str:
        if backend := services.elsewhere(record):
            return FAR_CONTEXT.format(backend=backend)
        unread = (await configuration.deps()).policy.unread(record.cwd)
        return await anyio.to_thread.run_sync(_tell_context, record, services.home, unread, services.context)

    async def skills(record: Record) -> str:
        from hermes_acp.skills.skill_overview import to_markdown

        skill_service = services.skill_service
        place = skill_service.place_of(record)
        return to_markdown(
            await skill_service.overview(place, services.workspace_trust, services.similarity())
        )

    return (
        SlashCommand("status", "Show the model, the mode and what the session has used", status),
        SlashCommand("context", ABOUT_CONTEXT, context),
        SlashCommand("skills", ABOUT_SKILLS, skills),
    )


def _turn_commands(services: CommandServices) -> tuple[TurnCommand, ...]:
    async def compact(turn: "Turn", words: str) -> str:
        from hermes_acp.agent.compaction import compact, to_markdown

        return to_markdown(await compact(turn, "asked", words), turn.record.messages)

    async def undo(turn: "Turn", words: str) -> str:
        undoing = services.checkpoint_service.undoing(turn.record.session_id, turn.emit)
        answer = await undoing.undo(words)
        if not undoing.is_done or answer == NOTHING:
            return answer
        learned = await services.learning.take_undo(turn.record.session_id)
        return f"{answer}\n\n{learned}" if learned else answer

    async def redo(turn: "Turn", words: str) -> str:
        return await services.checkpoint_service.undoing(turn.record.session_id, turn.emit).redo(words)

    async def trust(turn: "Turn", words: str) -> str:
        return await _settle_trust(services.workspace_trust, turn, words)

    async def memory(turn: "Turn", words: str) -> str:
        return await anyio.to_thread.run_sync(settle_pending, services.home, words)

    async def mcp(turn: "Turn", words: str) -> str:
        return await services.oauth_coordinator.answer(turn.record.session_id, turn.gate, words)

    return (
        TurnCommand("compact", "Sum up the older part of the conversation", COMPACT_HINT, compact),
        TurnCommand("undo", "Undo what the last turn changed in files", HINT, undo),
        TurnCommand("redo", "Take back the last undo", REDO_HINT, redo),
        TurnCommand("trust", ABOUT_TRUST, "no, to trust nothing", trust),
        TurnCommand("memory", ABOUT_MEMORY, "approve ID, or reject ID", memory),
        TurnCommand("mcp", ABOUT_MCP, MCP_HINT, mcp, needs_servers=True),
    )


def _tell_context(
    record: Record, home: Path, unread: "tuple[DeniedPath, ...]", context: ContextApprovals
) -> str:
    from hermes_acp.context.context_file_monitor import consent_for
    from hermes_acp.context.context_files import collect_context, collect_context_below
    from hermes_acp.context.context_search import SearchScope, folders_below
    from hermes_acp.sessions.command_answers import context_text
    from hermes_acp.storage.allowed_texts import read_allowed

    place = SearchScope(record.cwd, record.roots[1:], str(home), unread)
    allowed = read_allowed(home)
    folders = folders_below(place, map(os.path.dirname, tuple(record.seen)))
    admits = consent_for(record, context).admits
    return context_text(
        collect_context(place, allowed=allowed, admits=admits),
        collect_context_below(place, folders, allowed, admits),
    )


async def _settle_trust(workspace_trust: WorkspaceTrust, turn: "Turn", wish: str) -> str:
    place = turn.record.cwd
    if wish.strip().lower() in ("no", "revoke"):
        workspace_trust.revoke(place)
        return "Nothing that this folder brings along is trusted any more."
    items = workspace_trust.items(place)
    if not items:
        return "This folder brings nothing along that would need to be trusted."
    untrusted = [item for item in items if not workspace_trust.is_trusted(place, item)]
    if not untrusted:
        listed = "\n".join(f"- {item.kind.replace('_', ' ')} {item.name}: {item.about}" for item in items)
        return f"Trusted here, until it changes (`/trust no` ends that):\n{listed}"
    return await workspace_trust.ask(turn.ledger, turn.gate, place, untrusted)
