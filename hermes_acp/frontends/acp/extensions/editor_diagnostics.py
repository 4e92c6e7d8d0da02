"""Request diagnostics from an editor that announces support for it.

The protocol has no such method, so the request is our own: `_hermes/diagnostics`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import FileDiagnostic
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.extensions.meta_extensions import takes
from hermes_acp.frontends.acp.messages import editor
from hermes_protocol import own
from hermes_protocol.errors import PeerError, PeerGone

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session

METHOD: Final = "_hermes/diagnostics"
DIAGNOSTICS_TIMEOUT_S: Final = 20.0


def attach_diagnostics(client: ClientConnection, session: "Session") -> None:
    """Let a session request diagnostics from this client, if it announced `hermes.diagnostics: true`."""
    if takes(client.announced, "diagnostics"):
        session.sources.diagnoses = EditorDiagnostics(client, session.id)


class EditorDiagnostics:
    """Requests a session's diagnostics from its editor."""

    def __init__(self, client: ClientConnection, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def file_diagnostics(self, path: str) -> Sequence[FileDiagnostic]:
        """Return the diagnostics of a file or folder. Raises WorkspaceError."""
        params = own.DiagnosticsParams(session_id=self._session_id, path=path)
        try:
            answer = await self._client.connection.request(
                METHOD, params, own.DiagnosticsResult, timeout_s=DIAGNOSTICS_TIMEOUT_S
            )
        except (PeerError, PeerGone, TimeoutError) as error:
            why = error.message if isinstance(error, PeerError) else editor.NO_ANSWER
            raise WorkspaceError(editor.no_diagnostics(why)) from error
        return [
            FileDiagnostic(each.path, each.line, each.column, each.severity, each.message, each.source or "")
            for each in answer.diagnostics
        ]
