"""Decide which files of a session a client may read: those that the agent may read without asking.

A file for which the agent would need approval is refused, because this request cannot ask for it.
"""

import os
from typing import Final

from hermes_acp.core.errors import BadRequest, OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import FileChunk, Workspace
from hermes_acp.core.proposals import Reads
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.messages import files

MAX_PATH: Final = 4096
READ_TOOL: Final = "read_file"


class ReadableFile:
    """One file of a session; `name` is its path relative to the working directory."""

    def __init__(self, client: ClientConnection, session_id: str, named: str) -> None:
        """Find the file. Raises SessionNotFound, or BadRequest for a path outside the session's folders."""
        self._client = client
        self._session = client.session(session_id)
        self._named = named
        workspace = self._session.workspace
        if not 0 < len(named) <= MAX_PATH or "\0" in named:
            raise BadRequest(files.NO_PATH)
        try:
            self.path = workspace.locate(named)
        except OutsideRoots as error:
            raise BadRequest(files.outside(named), hint=files.OUTSIDE_HINT) from error
        except WorkspaceError as error:
            raise BadRequest(error.message, hint=error.hint) from error
        self.name = _name(self.path, workspace)

    async def read(self, max_bytes: int) -> FileChunk:
        """Read the file. Raises AuthRequired, ConfigError, or BadRequest for a file that clients may not read."""
        from hermes_acp.telemetry.secret_files import secret_in

        # The name is checked first, so that a forbidden file is not even opened.
        await self._check(Reads(self.path))
        try:
            chunk = await self._session.workspace.read_range(self.path, 0, max_bytes)
        except WorkspaceError as error:
            raise BadRequest(error.message, hint=error.hint) from error
        if chunk is None:
            raise BadRequest(files.missing(self.name))
        if secret := secret_in(chunk.content):
            await self._check(Reads(self.path, secret))
        return chunk

    def clean(self, text: str) -> str:
        """Mask the secrets in text."""
        return self._session.ledger.redactor.clean(text)

    async def _check(self, effect: Reads) -> None:
        """Raise BadRequest if the agent may not read the file without asking."""
        from hermes_acp.policy.sensitive_names import is_sensitive

        workspace = self._session.workspace
        policy = (await self._client.app.configuration.deps()).policy
        folder = workspace.roots[0] if workspace.is_remote and workspace.roots else ""
        verdict = policy.judge(
            (effect,), "ask", (), tool=READ_TOOL, place=self._session.record.cwd, folder=folder
        )
        if verdict.decision != "allow" or is_sensitive(self._named):
            raise BadRequest(files.protected(self.name), hint=files.PROTECTED_HINT)


def _name(path: str, workspace: Workspace) -> str:
    return os.path.relpath(path, workspace.cwd) if workspace.cwd else path
