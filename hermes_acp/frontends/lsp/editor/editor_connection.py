"""One editor's connection: what it said of itself, and what stands ready for it.

Knows: which parts serve one editor and how they find each other. Does not know: any method.
"""

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
    """What all methods have at hand; the app is there once the editor has been greeted."""

    def __init__(self, server: LanguageServer, environment: Environment, tasks: RequestTasks) -> None:
        self.server = server
        self.tasks = tasks
        self.client = LspClient(server)
        self.documents = OpenDocuments()
        self.pending = PendingChanges()
        self.progress = ProgressReporter(self.client)
        self.settings = LspSettings()
        self.actions: PluginFolder[Action] = PluginFolder("hermes_acp.frontends.lsp.actions", "ACTION")
        self.is_greeted = anyio.Event()
        self._scratch = ScratchFolder(environment.home)
        self._misread = ""
        self._app: App | None = None
        self._has_house = anyio.Event()
        self._sessions: LspSessions | None = None
        self._review: EditConfirmation | None = None
        self._completions: InlineCompletions | None = None

    def greet(self, params: types.InitializeParams) -> None:
        """Note what the editor said; settings that cannot be used are told later, and stop nobody."""
        self.client.can = EditorCapabilities(params.capabilities)
        try:
            self.settings = read_settings(params.initialization_options)
        except BadRequest as error:
            self._misread = error.sentence()

    def open(self) -> None:
        """Begin for good: the editor is ready to be told something."""
        encoding = self.server.workspace.position_encoding
        self.documents.encoding = str(getattr(encoding, "value", encoding) or "utf-16")
        if self._misread:
            self.client.warn(self._misread)
        self.is_greeted.set()

    def move_in(self, app: "App") -> None:
        """Take the app."""
        self._app = app
        self._has_house.set()

    async def app(self) -> "App":
        """Return the app, which is built when the editor has been greeted."""
        await self._has_house.wait()
        assert self._app, "the app is told of when it is there"
        return self._app

    def folders(self) -> tuple[str, ...]:
        """Return the folders the editor has open, as they are now."""
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
        """The way from drafts to edits."""
        from hermes_acp.frontends.lsp.edits.edit_confirmation import EditConfirmation

        self._review = self._review or EditConfirmation(
            self.client, self.documents, self.pending, self._scratch
        )
        return self._review

    @property
    def completions(self) -> "InlineCompletions":
        """The suggestions being made."""
        from hermes_acp.frontends.lsp.editor.inline_completions import InlineCompletions

        if self._completions is None:
            self._completions = InlineCompletions(self.tasks, self.documents)
        return self._completions

    def take_settings(self, given: object) -> None:
        """Let other settings hold from now on. Raises BadRequest, and keeps those before."""
        settings = read_settings(given)
        if self._sessions:
            self._sessions.apply(settings, self.settings)
        self.settings = settings

    async def show_answer(self, text: str) -> str:
        """Open a text as a Markdown document, or say where it lies; give its URI. Raises StorageError."""
        path = await self._scratch.put(f"answer-{uuid.uuid4().hex[:8]}.md", text.rstrip() + "\n")
        uri = path.as_uri()
        if not await self.client.show(uri):
            first = text.strip().partition("\n")[0][:MAX_FIRST_LINE_LENGTH]
            self.client.tell(messages.answer_elsewhere(first, str(path)))
        return uri
