"""An editor as one of a session's audiences.

Knows: how an event becomes notifications on one connection. Does not know: where events come from.
"""

from hermes_acp.core.events import (
    CommandsChanged,
    EditDrafted,
    EditsJudged,
    Event,
    ModeChanged,
    OptionsChanged,
    ThoughtSaid,
)
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.drafts import show_draft
from hermes_acp.faces.acp.judgements import show_judgement
from hermes_acp.faces.acp.v2.options import config_options
from hermes_acp.faces.acp.v2.updates import Narration
from hermes_acp.sessions.session import Session
from hermes_protocol import v2


class EditorAudience:
    """One session's updates on one connection."""

    def __init__(self, desk: Desk, session: Session) -> None:
        self._desk = desk
        self._session = session
        self._narration = Narration(session.workspace.cwd)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EditorAudience) and (self._desk, self._session) == (
            other._desk,
            other._session,
        )

    def __hash__(self) -> int:
        return hash((id(self._desk), id(self._session)))

    def show(self, event: Event) -> None:
        """Queue the event's updates; a changed mode or option is shown with all the others."""
        self._tell(event, is_replay=False)
        if isinstance(event, ModeChanged | OptionsChanged):
            self.notify(v2.ConfigOptionUpdate(config_options=config_options(self._session)))
        elif isinstance(event, CommandsChanged):
            self.notify(v2.AvailableCommandsUpdate(available_commands=available_commands(self._session)))
        elif isinstance(event, EditDrafted):
            show_draft(self._desk, self._session.id, event)
        elif isinstance(event, EditsJudged):
            show_judgement(self._desk, self._session.id, self._session.record.reviews, event)

    def recall(self, event: Event) -> None:
        """Queue the updates of an event of the past; what is chosen now is told by the answer behind it."""
        self._tell(event, is_replay=True)

    def _tell(self, event: Event, *, is_replay: bool) -> None:
        if isinstance(event, ThoughtSaid) and not self._session.record.options.shows_thoughts:
            return
        for update in self._narration.tell(event, is_replay=is_replay):
            self.notify(update)

    def notify(self, update: v2.SessionUpdate) -> None:
        """Send one update."""
        notify(self._desk, self._session.id, update)

    async def drained(self) -> None:
        """Wait while the editor reads too slowly."""
        await self._desk.connection.drained()


def available_commands(session: Session) -> list[v2.AvailableCommand]:
    """List the session's slash commands."""
    return [
        v2.Command(
            name=offer.name,
            description=offer.description,
            input=v2.TextCommandInput(hint=offer.hint) if offer.hint else v2.UNSET,
        )
        for offer in session.commands.offered
    ]


def watch(desk: Desk, session: Session) -> None:
    """Let the editor watch the session from now on; one that does so already goes on."""
    session.ledger.admit(EditorAudience(desk, session))


def notify(desk: Desk, session_id: str, update: v2.SessionUpdate) -> None:
    """Send one update of a session."""
    notification = v2.UpdateSessionNotification(session_id=session_id, update=update)
    desk.connection.notify("session/update", notification)
