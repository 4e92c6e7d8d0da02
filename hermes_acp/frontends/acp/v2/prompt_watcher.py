"""One prompt, from its arrival to the end of its turn."""

import anyio

from hermes_acp.agent.turn.commissions import Commission
from hermes_acp.core.errors import HermesError
from hermes_acp.core.events import CommandAnswered, Event, TurnEnded, UserSaid
from hermes_acp.core.messages import Part
from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.sessions.session import Session


class PromptWatcher:
    """Watch one prompt in a session; `settled` is set once it is inserted, or never will be.

    It is queued for the session's next turn from creation on, so that no later cancel is lost.

    `message_id` stays empty if it was not inserted; `error` is why the turn could not start or end, `end` how
    it ended otherwise.
    """

    def __init__(self, session: Session, parts: tuple[Part, ...], trace_parent: str = "") -> None:
        self.message_id = ""
        self.error: HermesError | None = None
        self.end: TurnEnded | None = None
        self.settled = anyio.Event()
        self._session = session
        self._parts = parts
        self._commission = Commission(trace_parent=trace_parent)
        self._answered = ""
        self._place = session.enqueue()

    async def run(self, gate: Gate) -> None:
        """Send the prompt and watch until the end."""
        self._session.ledger.admit(self)
        try:
            self.end = await self._session.prompt(self._parts, gate, self._place, commission=self._commission)
            self.message_id = self.message_id or self._answered
        except HermesError as error:
            self.error = error
        finally:
            self._session.ledger.dismiss(self)
            self.settled.set()

    def cancel(self) -> None:
        """Cancel the prompt, queued or running."""
        self._place.cancel()

    def show(self, event: Event) -> None:
        """Detect the prompt's insertion: its own parts, or the answer to its command."""
        if isinstance(event, UserSaid) and event.parts is self._parts:
            self.message_id = event.message_id
            self.settled.set()
        elif isinstance(event, CommandAnswered):
            self._answered = event.message_id

    async def drained(self) -> None:
        """Return at once: nothing is queued."""
