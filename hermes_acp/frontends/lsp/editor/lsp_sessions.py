"""The sessions of one editor: one per folder, opened when an action first needs it."""

import os
from collections.abc import Callable, Sequence

import anyio
from msgspec import structs

from hermes_acp.app.app import App
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.documents.open_documents import OpenDocuments
from hermes_acp.frontends.lsp.lsp_settings import LspSettings
from hermes_acp.sessions.session import Session
from hermes_acp.workspaces.draft_workspace import Drafts, DraftWorkspace


class LspSession:
    """A session with its drafts and its `extra_folders`; an action must hold `turn` while it uses the session."""

    def __init__(self, session: Session, drafts: Drafts, extra_folders: tuple[str, ...]) -> None:
        self.session = session
        self.drafts = drafts
        self.extra_folders = extra_folders
        self.turn = anyio.Lock()

    def makes_drafts(self) -> bool:
        """Return whether writes become drafts, as they do if the files are on this machine."""
        return isinstance(self.session.workspace, DraftWorkspace)

    def apply(self, settings: LspSettings, before: LspSettings) -> None:
        """Apply changed settings from the next turn on. Raises BadRequest."""
        if settings.mode == "bypass" and not self.session.offers.allows_bypass:
            raise BadRequest(messages.BYPASS_NOT_ALLOWED, hint=messages.BYPASS_HINT)
        if (settings.provider, settings.model) != (before.provider, before.model):
            options = self.session.record.options
            self.session.set_options(
                structs.replace(options, provider=settings.provider, model=settings.model)
            )
        if settings.mode and settings.mode != before.mode:
            self.session.set_mode(settings.mode)

    async def note(self, text: str) -> None:
        """Add a note for the model before its next turn; do nothing if the session cannot record it."""

        async def add() -> None:
            self.session.ledger.emit(NoteAdded(text))

        try:
            await self.session.between_turns(add)
        except HermesError:
            return


class LspSessions:
    """All sessions of one editor."""

    def __init__(self, documents: OpenDocuments, folders: Callable[[], Sequence[str]]) -> None:
        self._documents = documents
        self._folders = folders
        self._sessions: dict[str, LspSession] = {}
        self._opening = anyio.Lock()

    async def take(self, app: App, path: str, settings: LspSettings) -> LspSession:
        """Return the session for the folder that contains a file; open it if necessary.

        Raises BadRequest, SessionNotFound, Busy and StorageError.
        """
        folders = [os.path.realpath(folder) for folder in self._folders()]
        within = [folder for folder in folders if path.startswith(folder.rstrip("/") + "/")]
        cwd = max(within, key=len) if within else os.path.dirname(path)
        extra_folders = tuple(folder for folder in folders if folder != cwd) if within else ()
        async with self._opening:
            lsp_session = self._sessions.get(cwd)
            if lsp_session is None or app.sessions.get(lsp_session.session.id) is None:
                lsp_session = await self._open(app, cwd, extra_folders, settings)
                self._sessions[cwd] = lsp_session
            elif lsp_session.extra_folders != extra_folders:
                opens = _opener(app, lsp_session.drafts)
                lsp_session.session, _ = await app.sessions.load(
                    lsp_session.session.id, None, opens, extra_folders
                )
                lsp_session.extra_folders = extra_folders
        return lsp_session

    async def _open(
        self, app: App, cwd: str, extra_folders: tuple[str, ...], settings: LspSettings
    ) -> LspSession:
        await app.configuration.require_model()
        drafts = Drafts(self._documents)
        open_workspace = _opener(app, drafts)
        if settings.session and not self._sessions:
            session, _ = await app.sessions.load(settings.session, cwd, open_workspace, extra_folders)
        else:
            session = await app.sessions.create(cwd, extra_folders, open_workspace, surface="editor")
        lsp_session = LspSession(session, drafts, extra_folders)
        lsp_session.apply(settings, LspSettings())
        return lsp_session

    def apply(self, settings: LspSettings, before: LspSettings) -> None:
        """Apply changed settings to every session. Raises BadRequest."""
        for lsp_session in self._sessions.values():
            lsp_session.apply(settings, before)


def _opener(app: App, drafts: Drafts) -> Callable[[str, str, tuple[str, ...]], Workspace]:
    def open_workspace(_: str, place: str, roots: tuple[str, ...]) -> Workspace:
        return app.open_workspace(place, roots, drafts=drafts)

    return open_workspace
