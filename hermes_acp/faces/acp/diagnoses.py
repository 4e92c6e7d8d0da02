"""What an editor finds wrong in files, asked for where it announced that it can tell.

Knows: the request `_hermes/diagnostics` and the announcement of it. Does not know: who wants to know.
The protocol has no such method, so it is one of our own, alike in both versions.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, cast

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.core.exchanges import Trouble
from hermes_acp.faces.acp.desk import Desk
from hermes_protocol.errors import PeerError, PeerGone

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session

METHOD: Final = "_hermes/diagnostics"
PATIENCE_S: Final = 20.0


class _Found(Struct, rename="camel"):
    path: str
    line: int
    message: str
    column: int = 1
    severity: Literal["error", "warning", "information", "hint"] = "error"
    source: str | None = None


class _Answer(Struct, rename="camel"):
    diagnostics: list[_Found]


def take_diagnoses(desk: Desk, session: "Session", meta: object) -> None:
    """Let a session ask this client, if the `_meta` of its capabilities holds `hermes.diagnostics: true`."""
    own = cast("Mapping[str, object]", meta).get("hermes") if isinstance(meta, dict) else None
    if isinstance(own, dict) and cast("Mapping[str, object]", own).get("diagnostics") is True:
        session.sources.diagnoses = EditorDiagnoses(desk, session.id)


class EditorDiagnoses:
    """The errors and warnings of one session's editor."""

    def __init__(self, desk: Desk, session_id: str) -> None:
        self._desk = desk
        self._session_id = session_id

    async def troubles(self, path: str) -> Sequence[Trouble]:
        """Ask for those in a file or below a folder. Raises WorkspaceTrouble."""
        params = {"sessionId": self._session_id, "path": path}
        try:
            answer = await self._desk.connection.request(METHOD, params, _Answer, timeout_s=PATIENCE_S)
        except (PeerError, PeerGone, TimeoutError) as error:
            why = error.message if isinstance(error, PeerError) else "it gave no answer"
            raise WorkspaceTrouble(f"The editor did not say what is wrong: {why}.") from error
        return [
            Trouble(each.path, each.line, each.column, each.severity, each.message, each.source or "")
            for each in answer.diagnostics
        ]
