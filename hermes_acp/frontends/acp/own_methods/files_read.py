"""_hermes/files/read: a text file in a session's folders, for people who cannot open it in another way."""

from typing import Final

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.readable_files import ReadableFile
from hermes_acp.frontends.acp.messages import files
from hermes_protocol import own

MAX_SHOWN_BYTES: Final = 400_000


async def read_file(client: ClientConnection, params: own.FilesReadParams) -> own.FilesReadResult:
    """Read a text file. Raises SessionNotFound, AuthRequired, ConfigError, or BadRequest if it must not be shown."""
    file = ReadableFile(client, params.session_id, params.path)
    chunk = await file.read(MAX_SHOWN_BYTES)
    content = chunk.content
    if b"\0" in content:
        raise BadRequest(files.not_text(file.name))
    is_cut = chunk.size_bytes > len(content)
    if is_cut:  # the cut may be in the middle of a character or a secret, so the last line is dropped
        content = content[: content.rfind(b"\n") + 1] or content
    return own.FilesReadResult(
        path=file.path,
        name=file.name,
        text=file.clean(content.decode("utf-8", "replace")),
        size_bytes=chunk.size_bytes,
        is_cut=is_cut,
    )


EXTENSION = Method(own.FilesReadParams, read_file, access="view")
