"""What an editor finds wrong in files, asked for where it announced that it can tell.

Knows: the request `_hermes/diagnostics` and the announcement of it. Does not know: who wants to know.
The protocol has no such method, so it is one of our own.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.core.exchanges import Trouble
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.extensions import takes
from hermes_protocol import own
from hermes_protocol.errors import PeerError, PeerGone

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session

METHOD: Final = "_hermes/diagnostics"
PATIENCE_S: Final = 20.0


def take_diagnoses(desk: Desk, session: "Session") -> None:
    """Let a session ask this client, if the `_meta` of its capabilities holds `hermes.diagnostics: true`."""
    if takes(desk.announced, "diagnostics"):
        session.sources.diagnoses = EditorDiagnoses(desk, session.id)


class EditorDiagnoses:
    """The errors and warnings of one session's editor."""

    def __init__(self, desk: Desk, session_id: str) -> None:
        self._desk = desk
        self._session_id = session_id

    async def troubles(self, path: str) -> Sequence[Trouble]:
        """Ask for those in a file or below a folder. Raises WorkspaceTrouble."""
        params = own.DiagnosticsParams(session_id=self._session_id, path=path)
        try:
            answer = await self._desk.connection.request(
                METHOD, params, own.DiagnosticsResult, timeout_s=PATIENCE_S
            )
        except (PeerError, PeerGone, TimeoutError) as error:
            why = error.message if isinstance(error, PeerError) else "it gave no answer"
            raise WorkspaceTrouble(f"The editor did not say what is wrong: {why}.") from error
        return [
            Trouble(each.path, each.line, each.column, each.severity, each.message, each.source or "")
            for each in answer.diagnostics
        ]
