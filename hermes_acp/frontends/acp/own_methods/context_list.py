"""_hermes/context/list: the context files that sessions in a folder read, and the scanner's findings."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync
from msgspec import UNSET

from hermes_acp.core.errors import AuthRequired, ModelError
from hermes_acp.core.token_estimates import TOKEN_BYTES
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import overviews
from hermes_protocol import own

if TYPE_CHECKING:
    from hermes_acp.context.context_files import ContextFile, ContextFiles
    from hermes_acp.core.denied_paths import DeniedPath


async def list_context(client: ClientConnection, params: own.ContextListParams) -> own.ContextListResult:
    """List the files of a folder or of an open session. Raises BadRequest, SessionNotFound or ConfigError."""
    from hermes_acp.sessions.context_overview import folder_context, session_context

    roots = params.roots if isinstance(params.roots, list) else []
    cwd, *more = await run_sync(client.app.session_creator.checked_roots, params.cwd, roots)
    home = client.app.configuration.access.environment.home
    unread = await _unread(client, cwd)
    if params.session_id is UNSET:
        found = [await run_sync(folder_context, cwd, tuple(more), home, unread)]
    else:
        record = client.session(params.session_id).record
        if backend := client.app.backend_selector.remote_backend_for(record.options.backend):
            return own.ContextListResult(files=[], refusals=[], note=overviews.context_is_remote(backend))
        found = [*await run_sync(session_context, record, home, unread, client.app.context)]
    return own.ContextListResult(
        files=[entry for each in found for entry in _files(each)],
        refusals=[
            own.ContextListRefusal(path=each.path, file=each.file, why=each.why)
            for part in found
            for each in part.refusals
        ],
    )


async def _unread(client: ClientConnection, cwd: str) -> "tuple[DeniedPath, ...]":
    """Return the paths that rules forbid reading; without a model, no rules are loaded and no session can start."""
    try:
        return (await client.app.configuration.deps()).policy.unread(cwd)
    except (AuthRequired, ModelError):
        return ()


def _files(found: "ContextFiles") -> Iterator[own.ContextListFile]:
    yield from (_entry(each, found.root, is_used=True) for each in found.files)
    yield from (_entry(each, found.root, is_used=False) for each in found.withheld)


def _entry(file: "ContextFile", root: str, *, is_used: bool) -> own.ContextListFile:
    return own.ContextListFile(
        path=file.path,
        file=os.path.join(root, file.path),
        size_bytes=file.size_bytes,
        tokens=-(-len(file.text.encode("utf-8", "replace")) // TOKEN_BYTES),
        cut_bytes=file.cut_bytes,
        is_used=is_used,
        is_allowed=file.is_allowed,
        digest=file.digest,
        findings=[
            own.ContextListFileFinding(severity=each.severity, line=each.line, rule=each.rule, why=each.why)
            for each in file.findings
        ],
    )


EXTENSION = Method(own.ContextListParams, list_context, access="view")
