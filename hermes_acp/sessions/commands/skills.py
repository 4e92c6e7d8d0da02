"""`/skills`: show the skills available in the session's folder."""

from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.builtin_commands import CommandServices, RecordCommand


async def answer(services: CommandServices, record: Record) -> str:
    """List the skills, their state, and which of them are similar. Raises StorageError."""
    from hermes_acp.skills.skill_overview import to_markdown

    skill_service = services.skill_service
    place = skill_service.place_of(record)
    return to_markdown(await skill_service.overview(place, services.workspace_trust, services.similarity()))


COMMAND = RecordCommand(
    "Show the skills: whose they are, whether they are trusted, and how often each was used", answer
)
