"""`/context`: show which context files are used."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio.to_thread import run_sync

from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.builtin_commands import CommandServices, RecordCommand
from hermes_acp.sessions.context_overview import session_context

if TYPE_CHECKING:
    from hermes_acp.context.context_approvals import ContextApprovals
    from hermes_acp.core.denied_paths import DeniedPath

FAR_CONTEXT: Final = (
    "The files of this session are on the backend {backend}, so no context files are loaded. The agent reads "
    "instructions there, such as AGENTS.md, when it needs them; those in the folder on this machine are not used."
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
    from hermes_acp.sessions.command_answers import context_text

    return context_text(*session_context(record, home, unread, context))


COMMAND = RecordCommand("Show which context files are used and what the scanner found", answer)
