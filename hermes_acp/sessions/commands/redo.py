"""`/redo`: revert the last undo."""

from typing import TYPE_CHECKING

from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """Revert the last undo. Raises CheckpointError or StorageError."""
    return await services.checkpoint_service.undoing(turn.record.session_id, turn.emit).redo(words)


COMMAND = PromptCommand("Undo the last undo", "force, to overwrite files that were changed since then", run)
