"""`/context`: show which context files are used."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio.to_thread import run_sync

from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.builtin_commands import CommandServices, RecordCommand

if TYPE_CHECKING:
    from hermes_acp.context.context_approvals import ContextApprovals
    from hermes_acp.core.denied_paths import DeniedPath

FAR_CONTEXT: Final = (
    "The files of this session are on the backend {backend}: no context file is in force. Instructions for agents that "
    "lie there, such as AGENTS.md, are read by the agent when it needs them; those of the folder here do not count."
)


async def answer(services: CommandServices, record: Record) -> str:
    """List the files in use and what the scanner found in them."""
    if backend := services.elsewhere(record):
        return FAR_CONTEXT.format(backend=backend)
    unread = (await services.configuration.deps()).policy.unread(record.cwd)
    return await run_sync(_context_text, record, services.home, unread, services.context)


def _context_text(
    record: Record, home: Path, unread: "tuple[DeniedPath, ...]", context: "ContextApprovals"
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


COMMAND = RecordCommand("Show which context files are used and what the scanner found", answer)
