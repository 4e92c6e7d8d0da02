"""`/undo`: undo the file changes of the last turns."""

from typing import TYPE_CHECKING

from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand
from hermes_acp.sessions.turn_undo import HINT, NOTHING

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """Undo turns and record that against the skills they used. Raises CheckpointError or StorageError."""
    undoing = services.checkpoint_service.undoing(turn.record.session_id, turn.emit)
    answer = await undoing.undo(words)
    if not undoing.is_done or answer == NOTHING:
        return answer
    learned = await services.learning.count_undo(turn.record.session_id)
    return f"{answer}\n\n{learned}" if learned else answer


COMMAND = PromptCommand("Undo the file changes of the last turn", HINT, run)
