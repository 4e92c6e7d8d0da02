"""Follow a prompt from its arrival to the end of its turn."""

import anyio

from hermes_acp.agent.turn.commissions import Commission
from hermes_acp.core.errors import HermesError
from hermes_acp.core.events import CommandAnswered, Event, TurnEnded, UserSaid
from hermes_acp.core.messages import Part
from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.sessions.session import Session


class PromptWatcher:
    """Follows one prompt; `settled` is set once the conversation has it, or never will.

    The prompt is queued as soon as the watcher exists, so that a later cancellation is not lost.

    `message_id` stays empty if the prompt was not added. `error` is why the turn failed to start or to finish; `end`
    is how it ended otherwise.
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
        """Send the prompt, and follow it until its turn ends."""
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
        """Detect when the prompt is recorded, or its command is answered."""
        if isinstance(event, UserSaid) and event.parts is self._parts:
            self.message_id = event.message_id
            self.settled.set()
        elif isinstance(event, CommandAnswered):
            self._answered = event.message_id

    async def drained(self) -> None:
        """Return at once: nothing is queued."""
