"""_hermes/checkpoints/diff: the files that a turn changed, before and after."""

from hermes_acp.core.ports.checkpoint_ports import FileTexts
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own


async def diff_checkpoint(
    client: ClientConnection, params: own.CheckpointsDiffParams
) -> own.CheckpointsDiffResult:
    """Return both states of every file. Raises SessionNotFound or CheckpointError."""
    client.app.session_admin.status(params.session_id)
    found = await client.app.checkpoint_service.keeper.texts(params.session_id, params.id)
    return own.CheckpointsDiffResult(files=[_file(each) for each in found])


def _file(texts: FileTexts) -> own.CheckpointsDiffFile:
    if texts.is_binary:
        return own.CheckpointsDiffFile(path=texts.path, binary=True)
    return own.CheckpointsDiffFile(path=texts.path, old_text=texts.old_text, new_text=texts.new_text)


EXTENSION = Method(own.CheckpointsDiffParams, diff_checkpoint, access="view")
