"""_hermes/files/read: a file in a session's folders, for people who cannot open it otherwise.

Nobody can be asked here, so a file that the agent would have to ask about is refused.
"""

import os
from typing import Final

from hermes_acp.core.errors import BadRequest, OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import FileChunk, Workspace
from hermes_acp.core.proposals import Reads
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import files
from hermes_protocol import own

MAX_SHOWN_BYTES: Final = 400_000
MAX_PATH: Final = 4096
READ_TOOL: Final = "read_file"


async def read_file(client: ClientConnection, params: own.FilesReadParams) -> own.FilesReadResult:
    """Read a text file. Raise SessionNotFound, AuthRequired, ConfigError, BadRequest for a file that is not shown."""
    session = client.session(params.session_id)
    workspace = session.workspace
    if not 0 < len(params.path) <= MAX_PATH or "\0" in params.path:
        raise BadRequest(files.NO_PATH)
    try:
        path = workspace.locate(params.path)
        name = _name(path, workspace)
        # The name is checked first, so that a forbidden file is not even opened.
        await _check(client, params.session_id, Reads(path), params.path, name)
        chunk = await workspace.read_range(path, 0, MAX_SHOWN_BYTES)
    except OutsideRoots as error:
        raise BadRequest(files.outside(params.path), hint=files.OUTSIDE_HINT) from error
    except WorkspaceError as error:
        raise BadRequest(error.message, hint=error.hint) from error
    if chunk is None:
        raise BadRequest(files.missing(name))
    return await _shown(client, params.session_id, path, name, chunk)


async def _shown(
    client: ClientConnection, session_id: str, path: str, name: str, chunk: FileChunk
) -> own.FilesReadResult:
    from hermes_acp.telemetry.secret_files import secret_in

    content = chunk.content
    if secret := secret_in(content):
        await _check(client, session_id, Reads(path, secret), path, name)
    if b"\0" in content:
        raise BadRequest(files.not_text(name))
    is_cut = chunk.size_bytes > len(content)
    if is_cut:  # the last line may have lost its end, in the middle of a character or of a secret
        content = content[: content.rfind(b"\n") + 1] or content
    text = content.decode("utf-8", "replace")
    return own.FilesReadResult(
        path=path,
        name=name,
        text=client.session(session_id).ledger.redactor.clean(text),
        size_bytes=chunk.size_bytes,
        is_cut=is_cut,
    )


async def _check(client: ClientConnection, session_id: str, effect: Reads, named: str, name: str) -> None:
    """Raise BadRequest if the agent may not read the file without asking."""
    from hermes_acp.policy.sensitive_names import is_sensitive

    session = client.session(session_id)
    workspace = session.workspace
    policy = (await client.app.configuration.deps()).policy
    folder = workspace.roots[0] if workspace.is_remote and workspace.roots else ""
    verdict = policy.judge((effect,), "ask", (), tool=READ_TOOL, place=session.record.cwd, folder=folder)
    if verdict.decision != "allow" or is_sensitive(named):
        raise BadRequest(files.protected(name), hint=files.PROTECTED_HINT)


def _name(path: str, workspace: Workspace) -> str:
    return os.path.relpath(path, workspace.cwd) if workspace.cwd else path


EXTENSION = Method(own.FilesReadParams, read_file, access="view")
