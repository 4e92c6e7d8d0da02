"""`/cost`: show what the session has cost."""

from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.builtin_commands import CommandServices, RecordCommand


async def answer(services: CommandServices, record: Record) -> str:
    """Report the costs and the tokens at each provider."""
    from hermes_acp.sessions.command_answers import cost_text

    return cost_text(record)


COMMAND = RecordCommand("Show what this session has cost, and its tokens", answer)
