"""The sessions behind one editor: one for each of its folders, begun when something is first wanted there.

Knows: which folder a document belongs to, that folders come and go, what an editor's settings mean for a session, that
one action at a time works in it. Does not know: what an action is.
"""

import os
from collections.abc import Callable, Sequence

import anyio
from msgspec import structs

from hermes_acp.assembly.house import House
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.ports import Workspace
from hermes_acp.faces.lsp.documents import Documents
from hermes_acp.faces.lsp.settings import FaceSettings
from hermes_acp.sessions.session import Session
from hermes_acp.workspaces.drafted import Drafted, Drafts


class Seat:
    """One session with its drafts, reaching into `more` folders; whoever works in it holds `turn`."""

    def __init__(self, session: Session, drafts: Drafts, more: tuple[str, ...]) -> None:
        self.session = session
        self.drafts = drafts
        self.more = more
        self.turn = anyio.Lock()

    def makes_drafts(self) -> bool:
        """Tell whether what is written becomes a draft, as it does wherever the files are this machine's."""
        return isinstance(self.session.workspace, Drafted)

    def apply(self, settings: FaceSettings, before: FaceSettings) -> None:
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


class Seats:
    """All sessions of one editor."""

    def __init__(self, documents: Documents, folders: Callable[[], Sequence[str]]) -> None:
        self._documents = documents
        self._folders = folders
        self._seats: dict[str, Seat] = {}
        self._opening = anyio.Lock()

    async def take(self, house: House, path: str, settings: FaceSettings) -> Seat:
        """Give the session of the folder that a file belongs to. Raises BadRequest, NotFound, Busy, StorageTrouble."""
        folders = [os.path.realpath(folder) for folder in self._folders()]
        within = [folder for folder in folders if path.startswith(folder.rstrip("/") + "/")]
        cwd = max(within, key=len) if within else os.path.dirname(path)
        more = tuple(folder for folder in folders if folder != cwd) if within else ()
        async with self._opening:
            seat = self._seats.get(cwd)
            if seat is None or house.sessions.get(seat.session.id) is None:
                seat = await self._open(house, cwd, more, settings)
                self._seats[cwd] = seat
            elif seat.more != more:
                opens = _opener(house, seat.drafts)
                seat.session, _ = await house.sessions.load(seat.session.id, None, opens, more)
                seat.more = more
        return seat

    async def _open(self, house: House, cwd: str, more: tuple[str, ...], settings: FaceSettings) -> Seat:
        await house.outfitter.require_model()
        drafts = Drafts(self._documents)
        open_workspace = _opener(house, drafts)
        if settings.session and not self._seats:
            session, _ = await house.sessions.load(settings.session, cwd, open_workspace, more)
        else:
            session = await house.sessions.create(cwd, more, open_workspace)
        seat = Seat(session, drafts, more)
        seat.apply(settings, FaceSettings())
        return seat

    def apply(self, settings: FaceSettings, before: FaceSettings) -> None:
        """Let what differs from the settings before hold in every session. Raises BadRequest."""
        for seat in self._seats.values():
            seat.apply(settings, before)


def _opener(house: House, drafts: Drafts) -> Callable[[str, str, tuple[str, ...]], Workspace]:
    def open_workspace(_: str, place: str, roots: tuple[str, ...]) -> Workspace:
        return house.open_workspace(place, roots, drafts=drafts)

    return open_workspace
