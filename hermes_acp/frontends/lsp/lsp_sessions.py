"""The sessions behind one editor: one for each of its folders, begun when something is first wanted there.

Knows: which folder a document belongs to, that folders come and go, what an editor's settings mean for a session, that
one action at a time works in it. Does not know: what an action is.
"""

import os
from collections.abc import Callable, Sequence

import anyio
from msgspec import structs

from hermes_acp.app.app import App
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.frontends.lsp.lsp_settings import LspSettings
from hermes_acp.frontends.lsp.open_documents import OpenDocuments
from hermes_acp.sessions.session import Session
from hermes_acp.workspaces.draft_workspace import Drafts, DraftWorkspace


class LspSession:
    """One session with its drafts, reaching into `more` folders; whoever works in it holds `turn`."""

    def __init__(self, session: Session, drafts: Drafts, more: tuple[str, ...]) -> None:
        self.session = session
        self.drafts = drafts
        self.more = more
        self.turn = anyio.Lock()

    def makes_drafts(self) -> bool:
        """Return whether what is written becomes a draft, as it does wherever the files are this machine's."""
        return isinstance(self.session.workspace, DraftWorkspace)

    def apply(self, settings: LspSettings, before: LspSettings) -> None:
        """Let what differs from the settings before hold from the next turn on. Raises BadRequest."""
        if settings.mode == "bypass" and not self.session.offers.allows_bypass:
            raise BadRequest(
                "The mode bypass asks about nothing.",
                hint="Set `allow_bypass: true` where nothing can be lost.",
            )
        if (settings.provider, settings.model) != (before.provider, before.model):
            options = self.session.record.options
            self.session.set_options(
                structs.replace(options, provider=settings.provider, model=settings.model)
            )
        if settings.mode and settings.mode != before.mode:
            self.session.set_mode(settings.mode)

    async def note(self, text: str) -> None:
        """Let the model know something before its next turn; a session that cannot take it goes without."""

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
        """Return the session of the folder that a file belongs to. Raises BadRequest, SessionNotFound, Busy,
        StorageError.
        """
        folders = [os.path.realpath(folder) for folder in self._folders()]
        within = [folder for folder in folders if path.startswith(folder.rstrip("/") + "/")]
        cwd = max(within, key=len) if within else os.path.dirname(path)
        more = tuple(folder for folder in folders if folder != cwd) if within else ()
        async with self._opening:
            lsp_session = self._sessions.get(cwd)
            if lsp_session is None or app.sessions.get(lsp_session.session.id) is None:
                lsp_session = await self._open(app, cwd, more, settings)
                self._sessions[cwd] = lsp_session
            elif lsp_session.more != more:
                opens = _opener(app, lsp_session.drafts)
                lsp_session.session, _ = await app.sessions.load(lsp_session.session.id, None, opens, more)
                lsp_session.more = more
        return lsp_session

    async def _open(self, app: App, cwd: str, more: tuple[str, ...], settings: LspSettings) -> LspSession:
        await app.configuration.require_model()
        drafts = Drafts(self._documents)
        open_workspace = _opener(app, drafts)
        if settings.session and not self._sessions:
            session, _ = await app.sessions.load(settings.session, cwd, open_workspace, more)
        else:
            session = await app.sessions.create(cwd, more, open_workspace)
        lsp_session = LspSession(session, drafts, more)
        lsp_session.apply(settings, LspSettings())
        return lsp_session

    def apply(self, settings: LspSettings, before: LspSettings) -> None:
        """Let what differs from the settings before hold in every session. Raises BadRequest."""
        for lsp_session in self._sessions.values():
            lsp_session.apply(settings, before)


def _opener(app: App, drafts: Drafts) -> Callable[[str, str, tuple[str, ...]], Workspace]:
    def open_workspace(_: str, place: str, roots: tuple[str, ...]) -> Workspace:
        return app.open_workspace(place, roots, drafts=drafts)

    return open_workspace
