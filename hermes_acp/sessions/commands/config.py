"""`/config`: show where the settings are, and this session's options."""

from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.builtin_commands import CommandServices, RecordCommand


async def answer(services: CommandServices, record: Record) -> str:
    """Report the settings file and the options in use."""
    from hermes_acp.sessions.command_answers import config_text

    await services.configuration.deps()
    return config_text(record, services.configuration.models(), services.home / "config.yaml")


COMMAND = RecordCommand("Show where your settings are, and the options of this session", answer)
