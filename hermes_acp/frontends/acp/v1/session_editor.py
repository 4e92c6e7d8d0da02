"""Choose the editor of a session that several clients share: the first reachable one with files or terminals."""

from collections.abc import Iterator

from hermes_acp.core.ports.workspace_ports import Command, CommandResult
from hermes_acp.core.proposals import Progress
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.v1.acp_editor import AcpEditor


class SessionEditor:
    """Implement `Editor` with one attached client for as long as it is reachable, and then with another one."""

    def __init__(self, client: ClientConnection, session_id: str) -> None:
        self._session_id = session_id
        self._client = client
        self._editor = AcpEditor(client, session_id)

    @property
    def reads_files(self) -> bool:
        """Whether files can be read through an editor."""
        return self._current().reads_files

    @property
    def writes_files(self) -> bool:
        """Whether files can be written through an editor."""
        return self._current().writes_files

    @property
    def runs_commands(self) -> bool:
        """Whether commands can run in an editor's terminals."""
        return self._current().runs_commands

    async def read_text(self, path: str, first: int = 1, count: int = 0) -> str | None:
        """Return a file's text from the editor, or None if the editor has no such file. Raises EditorStateUnknown."""
        return await self._current().read_text(path, first, count)

    async def write_text(self, path: str, text: str) -> None:
        """Let the editor write a file. Raises WorkspaceError if it refuses or does not answer."""
        await self._current().write_text(path, text)

    async def run(self, command: Command, progress: Progress) -> CommandResult | None:
        """Run a command in a terminal of the editor. Raises WorkspaceError if the editor loses the command."""
        return await self._current().run(command, progress)

    def _current(self) -> AcpEditor:
        if not self._client.is_reachable:
            for client in self._others():
                editor = AcpEditor(client, self._session_id)
                if editor.reads_files or editor.writes_files or editor.runs_commands:
                    self._client, self._editor = client, editor
                    break
        return self._editor

    def _others(self) -> Iterator[ClientConnection]:
        session = self._client.app.sessions.get(self._session_id)
        for attached in session.clients.controllers if session else ():
            client = attached.connection
            if isinstance(client, ClientConnection) and client.version == 1 and client.is_reachable:
                yield client
