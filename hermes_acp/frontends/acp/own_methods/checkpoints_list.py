"""_hermes/checkpoints/list: the file changes of a session's turns, oldest turn first."""

from msgspec import UNSET

from hermes_acp.core.ports.checkpoint_ports import Checkpoint, FileChange
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_protocol import own


async def list_checkpoints(
    client: ClientConnection, params: own.CheckpointsListParams
) -> own.CheckpointsListResult:
    """List the changes of an open or stored session. Raises SessionNotFound or CheckpointError."""
    client.app.session_admin.status(params.session_id)
    found = await client.app.checkpoint_service.keeper.of_session(params.session_id)
    wanted = (each for each in found if each.kind == "turn" or params.include_undos)
    return own.CheckpointsListResult(checkpoints=[_entry(each) for each in wanted])


def _entry(checkpoint: Checkpoint) -> own.CheckpointsListCheckpoint:
    return own.CheckpointsListCheckpoint(
        id=checkpoint.id,
        turn_id=checkpoint.turn_id,
        created_at=iso_time(checkpoint.created_at),
        title=checkpoint.title,
        kind=checkpoint.kind,
        files=[_file(each) for each in checkpoint.files],
        left_out=list(checkpoint.left_out),
        is_undone=bool(checkpoint.undone_by),
        is_torn=checkpoint.is_torn,
    )


def _file(change: FileChange) -> own.CheckpointsListCheckpointFile:
    return own.CheckpointsListCheckpointFile(
        path=change.path, change=change.change, old_path=change.old_path or UNSET
    )


EXTENSION = Method(own.CheckpointsListParams, list_checkpoints, access="view")
