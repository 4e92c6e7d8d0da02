"""_hermes/checkpoints/restore: undo the file changes of a turn, or revert an undo."""

from hermes_acp.core.ports.checkpoint_ports import RestoreResult
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own


async def restore_checkpoint(
    client: ClientConnection, params: own.CheckpointsRestoreParams
) -> own.CheckpointsRestoreResult:
    """Restore all requested files or, if there is a conflict, none.

    The session must be open, because its model is told. Raises SessionNotFound, Busy, CheckpointError or StorageError.
    """
    session = client.session(params.session_id)
    undoing = client.app.checkpoint_service.undoing(session.id, session.ledger.emit)
    paths = params.paths if isinstance(params.paths, list) else None

    async def restore() -> RestoreResult:
        return await undoing.restore(params.id, paths, force=params.force)

    done = await session.between_turns(restore)
    return own.CheckpointsRestoreResult(
        restored=list(done.restored),
        conflicts=[own.CheckpointsRestoreConflict(path=each.path, why=each.why) for each in done.conflicts],
        checkpoint_id=done.checkpoint_id,
    )


EXTENSION = Method(own.CheckpointsRestoreParams, restore_checkpoint)
