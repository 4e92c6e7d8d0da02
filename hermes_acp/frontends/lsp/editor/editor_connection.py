"""The connection to one editor, with the parts that serve it."""

import uuid
from typing import TYPE_CHECKING, Final

import anyio
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.client.editor_capabilities import EditorCapabilities
from hermes_acp.frontends.lsp.client.lsp_client import LspClient
from hermes_acp.frontends.lsp.client.scratch_files import ScratchFolder
from hermes_acp.frontends.lsp.client.work_done_progress import ProgressReporter
from hermes_acp.frontends.lsp.code_action import Action
from hermes_acp.frontends.lsp.documents.open_documents import OpenDocuments, path_of
from hermes_acp.frontends.lsp.edits.proposed_edits import PendingChanges
from hermes_acp.frontends.lsp.lsp_settings import LspSettings, read_settings
from hermes_acp.frontends.lsp.server.request_tasks import RequestTasks

if TYPE_CHECKING:
    from hermes_acp.app.app import App
    from hermes_acp.frontends.lsp.editor.inline_completions import InlineCompletions
    from hermes_acp.frontends.lsp.editor.lsp_sessions import LspSessions
    from hermes_acp.frontends.lsp.edits.edit_confirmation import EditConfirmation

MAX_FIRST_LINE_LENGTH: Final = 300


class EditorConnection:
    """The state that all methods share. The app is built after the editor has been initialized."""

    def __init__(self, server: LanguageServer, environment: Environment, tasks: RequestTasks) -> None:
        self.server = server
        self.tasks = tasks
        self.client = LspClient(server)
        self.documents = OpenDocuments()
        self.pending = PendingChanges()
        self.progress = ProgressReporter(self.client)
        self.settings = LspSettings()
        self.actions: PluginFolder[Action] = PluginFolder("hermes_acp.frontends.lsp.actions", "ACTION")
        self.is_initialized = anyio.Event()
        self.scratch = ScratchFolder(environment.home)
        self._settings_error = ""
        self._app: App | None = None
        self._has_app = anyio.Event()
        self._sessions: LspSessions | None = None
        self._review: EditConfirmation | None = None
        self._completions: InlineCompletions | None = None

    def note_client(self, params: types.InitializeParams) -> None:
        """Store the editor's capabilities and settings; invalid settings are reported later and are not fatal."""
        self.client.can = EditorCapabilities(params.capabilities)
        try:
            self.settings = read_settings(params.initialization_options)
        except BadRequest as error:
            self._settings_error = error.sentence()

    def open(self) -> None:
        """Start sending messages, because the editor now accepts them."""
        encoding = self.server.workspace.position_encoding
        self.documents.encoding = str(getattr(encoding, "value", encoding) or "utf-16")
        if self._settings_error:
            self.client.warn(self._settings_error)
        self.is_initialized.set()

    def set_app(self, app: "App") -> None:
        """Set the app and wake everyone waiting for it."""
        self._app = app
        self._has_app.set()

    async def app(self) -> "App":
        """Wait for the app."""
        await self._has_app.wait()
        assert self._app, "set_app wakes the waiters after it has set the app"
        return self._app

    def folders(self) -> tuple[str, ...]:
        """Return the folders that the editor currently has open."""
        workspace = self.server.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or [workspace.root_uri or ""]
        return tuple(path for path in map(path_of, uris) if path)

    @property
    def lsp_sessions(self) -> "LspSessions":
        """The sessions of this editor."""
        from hermes_acp.frontends.lsp.editor.lsp_sessions import LspSessions

        self._sessions = self._sessions or LspSessions(self.documents, self.folders)
        return self._sessions

    @property
    def review(self) -> "EditConfirmation":
        """The service that lets the user confirm edits."""
        from hermes_acp.frontends.lsp.edits.edit_confirmation import EditConfirmation

        self._review = self._review or EditConfirmation(
            self.client, self.documents, self.pending, self.scratch
        )
        return self._review

    @property
    def completions(self) -> "InlineCompletions":
        """The pending inline completions."""
        from hermes_acp.frontends.lsp.editor.inline_completions import InlineCompletions

        if self._completions is None:
            self._completions = InlineCompletions(self.tasks, self.documents)
        return self._completions

    def take_settings(self, given: object) -> None:
        """Replace the settings. Raises BadRequest, keeping the previous ones."""
        settings = read_settings(given)
        if self._sessions:
            self._sessions.apply(settings, self.settings)
        self.settings = settings

    async def show_answer(self, text: str) -> str:
        """Open a text as a Markdown document, or show where it is; return its URI. Raises StorageError."""
        path = await self.scratch.put(f"answer-{uuid.uuid4().hex[:8]}.md", text.rstrip() + "\n")
        uri = path.as_uri()
        if not await self.client.show(uri):
            first = text.strip().partition("\n")[0][:MAX_FIRST_LINE_LENGTH]
            self.client.tell(messages.answer_elsewhere(first, str(path)))
        return uri
