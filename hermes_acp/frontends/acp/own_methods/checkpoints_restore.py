"""_hermes/checkpoints/restore: take back what a turn changed, or what an undo put back."""

from hermes_acp.core.checkpoints import Restored
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import own


async def restore_checkpoint(
    desk: Desk, params: own.CheckpointsRestoreParams
) -> own.CheckpointsRestoreResult:
    """Put everything back that was meant or, where something is in the way, nothing.

    The session must be open: its model is told. Raises NotFound, Busy, CheckpointTrouble, StorageTrouble.
    """
    session = desk.session(params.session_id)
    undoing = desk.house.checkpointing.undoing(session.id, session.ledger.emit)
    paths = params.paths if isinstance(params.paths, list) else None

    async def restore() -> Restored:
        return await undoing.restore(params.id, paths, force=params.force)

    done = await session.between_turns(restore)
    return own.CheckpointsRestoreResult(
        restored=list(done.restored),
        conflicts=[own.CheckpointsRestoreConflict(path=each.path, why=each.why) for each in done.conflicts],
        checkpoint_id=done.checkpoint_id,
    )


EXTENSION = Method(own.CheckpointsRestoreParams, restore_checkpoint)
