"""`/cost`: show what the session has cost."""

from pathlib import Path

from anyio.to_thread import run_sync

from hermes_acp.core.record.session_record import Record
from hermes_acp.core.record.turn_times import TurnTimer, TurnTimes
from hermes_acp.sessions.builtin_commands import CommandServices, RecordCommand


async def answer(services: CommandServices, record: Record) -> str:
    """Report the cost, the tokens at each provider, and the time spent by the last turn and by all turns."""
    from hermes_acp.sessions.command_answers import cost_text, times_text

    turns = await run_sync(_turns, services.transcript(record.session_id))
    return "\n".join((cost_text(record), *times_text(turns)))


def _turns(transcript: Path) -> list[TurnTimes]:
    from hermes_acp.storage.transcript import Transcript

    timer = TurnTimer()
    try:
        ended = [timer.take(event, at) for event, at in Transcript.read_timed(transcript)]
    except OSError:
        return []
    return [times for times in ended if times]


COMMAND = RecordCommand(
    "Show what this session has cost, its tokens, and how its turns spent their time", answer
)
