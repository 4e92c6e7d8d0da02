"""_hermes/files/fetch: a complete file from a session's folders, for a client that passes it on to its user."""

from base64 import b64encode
from mimetypes import guess_type
from typing import Final

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.readable_files import ReadableFile
from hermes_acp.frontends.acp.messages import files
from hermes_protocol import own

MAX_BYTES: Final = 10 * 1024 * 1024


async def fetch_file(client: ClientConnection, params: own.FilesFetchParams) -> own.FilesFetchResult:
    """Read a file. Raises BadRequest if clients may not read it, SessionNotFound, AuthRequired or ConfigError."""
    from hermes_acp.tools.image_files import image_type

    file = ReadableFile(client, params.session_id, params.path)
    chunk = await file.read(MAX_BYTES)
    if chunk.size_bytes > MAX_BYTES:
        raise BadRequest(files.too_large(file.name, chunk.size_bytes, MAX_BYTES))
    content = _clean(file, chunk.content)
    mime_type = image_type(content) or guess_type(file.name)[0] or "application/octet-stream"
    return own.FilesFetchResult(
        path=file.path, name=file.name, mime_type=mime_type, data=b64encode(content).decode()
    )


def _clean(file: ReadableFile, content: bytes) -> bytes:
    """Mask the secrets in text; return other content unchanged."""
    try:
        return file.clean(content.decode("utf-8")).encode()
    except UnicodeDecodeError:
        return content


EXTENSION = Method(own.FilesFetchParams, fetch_file, access="view")
