"""Ask the user of a parent turn about its child's calls, on cards in the parent's session."""

from msgspec import structs

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallEnded, CallProgressed, CallProposed, CallStarted, PermissionAsked
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.proposals import Question, Reply


class ParentCards:
    """The cards in the parent's session for one child's calls that needed approval.

    With `within`, the cards belong to that call of the parent and are recorded in its session. Otherwise they are only
    shown: the child's record contains them, and the parent's contains the question.
    """

    def __init__(self, parent: Turn, label: str, *, within: str = "") -> None:
        self._parent = parent
        self._label = label
        self._within = within
        self._own_ids: dict[str, str] = {}

    def open(self, call: CallProposed) -> CallProposed:
        """Show a child's call on a card with an ID of the parent's session, and return the card."""
        own_id = self._parent.deps.ids.fresh("call")
        title = f"{self._label}: {call.title}"
        card = structs.replace(call, call_id=own_id, title=title, within=self._within or call.within)
        self._own_ids[call.call_id] = own_id
        self._show(card)
        if not self._within:
            self._parent.emit(PermissionAsked(own_id))
        return card

    def own_id(self, call_id: str) -> str:
        """Return the ID of the card for a child's call, or an empty string if nobody was asked about it."""
        return self._own_ids.get(call_id, "")

    def follow(self, event: CallProposed | CallStarted | CallProgressed | CallEnded) -> None:
        """Update the card of a child's call from an event."""
        if not (own_id := self.own_id(event.call_id)):
            return
        shown = structs.replace(event, call_id=own_id)
        if self._within and isinstance(shown, CallEnded):
            shown = structs.replace(shown, within=self._within)
        self._show(shown)

    def _show(self, event: CallProposed | CallStarted | CallProgressed | CallEnded) -> None:
        if self._within:
            record_or_show(self._parent.ledger, event)
        else:
            self._parent.ledger.show(event)


class ParentGate:
    """The gate of a child turn: the parent's user answers permission questions one at a time; nobody answers others."""

    def __init__(self, parent: Turn, cards: ParentCards) -> None:
        self._parent = parent
        self._cards = cards

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Ask the parent's user about a call, on a card that names the child."""
        parent = self._parent
        async with parent.calls.asking:
            card = self._cards.open(call)
            await parent.ledger.drained()
            return await parent.gate.ask(card, permission_scope=permission_scope)

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Return None: a child only asks for permission."""
        return None


def record_or_show(ledger: Ledger, event: CallProposed | CallStarted | CallProgressed | CallEnded) -> None:
    """Record and show a card event; if it can no longer be recorded, only show it."""
    try:
        ledger.emit(event)
    except StorageError:
        ledger.show(event)
