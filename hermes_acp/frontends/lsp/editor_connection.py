"""One editor's desk: what it said of itself, and what stands ready for it.

Knows: which parts serve one editor and how they find each other. Does not know: any method.
"""

import uuid
from typing import TYPE_CHECKING, Final

import anyio
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hermes_acp.config.environment import Environment
from hermes_acp.core.drawers import Drawer
from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.lsp.abilities import Abilities
from hermes_acp.faces.lsp.action import Action
from hermes_acp.faces.lsp.client import Client
from hermes_acp.faces.lsp.documents import Documents, path_of
from hermes_acp.faces.lsp.progress import ProgressDesk
from hermes_acp.faces.lsp.proposals import Pending
from hermes_acp.faces.lsp.scratch import Scratch
from hermes_acp.faces.lsp.settings import FaceSettings, read_settings
from hermes_acp.faces.lsp.tasks import Tasks

if TYPE_CHECKING:
    from hermes_acp.assembly.house import House
    from hermes_acp.faces.lsp.completions import Completions
    from hermes_acp.faces.lsp.review import Review
    from hermes_acp.faces.lsp.seats import Seats

FIRST_LINE_CHARACTERS: Final = 300


class Desk:
    """What all methods have at hand; the house is there once the editor has been greeted."""

    def __init__(self, server: LanguageServer, environment: Environment, tasks: Tasks) -> None:
        self.server = server
        self.tasks = tasks
        self.client = Client(server)
        self.documents = Documents()
        self.pending = Pending()
        self.progress = ProgressDesk(self.client)
        self.settings = FaceSettings()
        self.actions: Drawer[Action] = Drawer("hermes_acp.faces.lsp.actions", "ACTION")
        self.is_greeted = anyio.Event()
        self._scratch = Scratch(environment.home)
        self._misread = ""
        self._house: House | None = None
        self._has_house = anyio.Event()
        self._seats: Seats | None = None
        self._review: Review | None = None
        self._completions: Completions | None = None

    def greet(self, params: types.InitializeParams) -> None:
        """Note what the editor said; settings that cannot be used are told later, and stop nobody."""
        self.client.can = Abilities(params.capabilities)
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

    def move_in(self, house: "House") -> None:
        """Take the house."""
        self._house = house
        self._has_house.set()

    async def house(self) -> "House":
        """Give the house, which is built when the editor has been greeted."""
        await self._has_house.wait()
        assert self._house, "the house is told of when it is there"
        return self._house

    def folders(self) -> tuple[str, ...]:
        """Give the folders the editor has open, as they are now."""
        workspace = self.server.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or [workspace.root_uri or ""]
        return tuple(path for path in map(path_of, uris) if path)

    @property
    def seats(self) -> "Seats":
        """The sessions of this editor."""
        from hermes_acp.faces.lsp.seats import Seats

        self._seats = self._seats or Seats(self.documents, self.folders)
        return self._seats

    @property
    def review(self) -> "Review":
        """The way from drafts to edits."""
        from hermes_acp.faces.lsp.review import Review

        self._review = self._review or Review(self.client, self.documents, self.pending, self._scratch)
        return self._review

    @property
    def completions(self) -> "Completions":
        """The suggestions being made."""
        from hermes_acp.faces.lsp.completions import Completions

        if self._completions is None:
            self._completions = Completions(self.tasks, self.documents)
        return self._completions

    def take_settings(self, given: object) -> None:
        """Let other settings hold from now on. Raises BadRequest, and keeps those before."""
        settings = read_settings(given)
        if self._seats:
            self._seats.apply(settings, self.settings)
        self.settings = settings

    async def show_answer(self, text: str) -> str:
        """Open a text as a Markdown document, or say where it lies; give its URI. Raises StorageTrouble."""
        path = await self._scratch.put(f"answer-{uuid.uuid4().hex[:8]}.md", text.rstrip() + "\n")
        uri = path.as_uri()
        if not await self.client.show(uri):
            first = text.strip().partition("\n")[0][:FIRST_LINE_CHARACTERS]
            self.client.tell(f"{first}\nAll of it: {path}")
        return uri
