"""A session that is reported to observers: its record, without clients."""

from hermes_acp.core.events import AnyEvent, SessionOpened
from hermes_acp.core.ports.record_ports import Audience
from hermes_acp.core.record.session_record import Record


class SilentSink:
    """Accepts events and shows them to nobody."""

    def emit(self, event: AnyEvent) -> AnyEvent:
        return event

    def clean(self, text: str) -> str:
        return text

    def admit(self, audience: Audience) -> None:
        pass

    async def drained(self) -> None:
        pass


class NamedSession:
    """A session with an ID."""

    def __init__(self, session_id: str) -> None:
        self.record = Record()
        self.record.apply(SessionOpened(session_id, "/work", ("/work",), 0.0))
        self.ledger = SilentSink()
