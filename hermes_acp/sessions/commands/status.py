"""`/status`: show the model, the mode and what the session has used."""

from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.builtin_commands import CommandServices, RecordCommand


async def answer(services: CommandServices, record: Record) -> str:
    """Report from the record and from the models that can be chosen."""
    from hermes_acp.sessions.command_answers import status_text

    await services.configuration.deps()
    return status_text(record, services.configuration.models())


COMMAND = RecordCommand("Show the model, the mode and what the session has used", answer)
