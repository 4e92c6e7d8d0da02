"""`/status`: show the model, the mode and the session's usage."""

from hermes_acp.config.home_folders import DEFAULT_PROFILE
from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.builtin_commands import CommandServices, RecordCommand


async def answer(services: CommandServices, record: Record) -> str:
    """Report the model, the mode and the usage from the session's record."""
    from hermes_acp.sessions.command_answers import status_text

    await services.configuration.deps()
    profile = services.configuration.access.environment.profile
    shown = "" if profile == DEFAULT_PROFILE else profile
    return status_text(record, services.configuration.models(), shown)


COMMAND = RecordCommand("Show the model, the mode and what the session has used", answer)
