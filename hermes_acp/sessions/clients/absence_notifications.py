"""Send notifications about questions and finished turns in sessions without clients.

Turns of runs are left out, because runs are reported separately.
"""

from collections.abc import Callable, Sized
from typing import Final, Protocol

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    PermissionAnswered,
    PermissionAsked,
    TurnEnded,
    TurnStarted,
)
from hermes_acp.core.ports.notification_ports import Notification, NotificationKind
from hermes_acp.core.ports.record_ports import Audience
from hermes_acp.core.ports.session_ports import RecordedSession
from hermes_acp.core.record.session_record import Record

ASK_USER: Final = "ask_user"
SILENT_ENDS: Final = ("cancelled", "input_required")
RESUME: Final = "hermes-acp chat --resume {session}"
Post = Callable[[Notification], None]


class AttendedSession(Protocol):
    """A session, as seen by this module."""

    @property
    def record(self) -> Record:
        """The state that the events so far result in."""
        ...

    @property
    def clients(self) -> Sized:
        """The clients that are attached."""
        ...


class AbsenceNotifications:
    """Observes all sessions of the process."""

    def __init__(self, find: Callable[[str], AttendedSession | None], post: Post) -> None:
        """Initialise with `post`, which never blocks or raises, and `find`, which returns an open session."""
        self._find = find
        self._post = post
        self._audiences: dict[str, _AbsenceAudience] = {}

    def opened(self, session: RecordedSession) -> Audience:
        """Return an audience for a newly opened session."""
        session_id = session.record.session_id
        audience = self._audiences[session_id] = _AbsenceAudience(session_id, self._find, self._post)
        return audience

    def closed(self, session_id: str) -> None:
        """Forget a session that was closed."""
        self._audiences.pop(session_id, None)

    def left(self, session_id: str) -> None:
        """Report the open questions of a session that its last client has left."""
        if audience := self._audiences.get(session_id):
            audience.report_questions()


class _AbsenceAudience:
    def __init__(self, session_id: str, find: Callable[[str], AttendedSession | None], post: Post) -> None:
        self._session_id = session_id
        self._find = find
        self._post = post
        self._is_run = False
        self._cards: dict[str, CallProposed] = {}
        self._questions: dict[str, str] = {}

    def report_questions(self) -> None:
        """Send a notification for each open question."""
        for call_id, sentence in self._questions.items():
            self._report("input_required", call_id, sentence)

    def show(self, event: Event) -> None:
        """Send a notification for the event if it concerns a user without an attached client."""
        match event:
            case TurnStarted():
                self._is_run = bool(event.run_id)
                self._cards.clear()
                self._questions.clear()
            case CallProposed():
                self._cards[event.call_id] = event
            case CallEnded():
                self._cards.pop(event.call_id, None)
                self._questions.pop(event.call_id, None)
            case PermissionAsked():
                card = self._cards.get(event.call_id)
                title = card.title if card else ""
                self._ask(event.call_id, f"{title}. {event.why}" if event.why else title)
            case PermissionAnswered():
                self._questions.pop(event.call_id, None)
            case CallStarted() if (card := self._cards.get(event.call_id)) and card.name == ASK_USER:
                self._ask(event.call_id, card.title)
            case TurnEnded() if event.reason not in SILENT_ENDS:
                self._report("done" if event.reason == "done" else "failed", event.turn_id, event.sentence)
            case _:
                pass

    def _ask(self, call_id: str, sentence: str) -> None:
        self._questions[call_id] = sentence
        self._report("input_required", call_id, sentence)

    async def drained(self) -> None:
        """Return at once, because this audience has nothing to display."""

    def _report(self, kind: NotificationKind, about: str, sentence: str) -> None:
        session = self._find(self._session_id)
        if self._is_run or session is None or len(session.clients):
            return
        self._post(
            Notification(
                f"{self._session_id}:{about}",
                kind,
                session.record.title,
                sentence,
                session_id=self._session_id,
                answer_with=RESUME.format(session=self._session_id) if kind == "input_required" else "",
            )
        )
