"""The calls of a session that have no outcome yet, and the child agents that work for them."""

from hermes_acp.core.events import CallProposed, CallStarted, ChildChanged
from hermes_acp.core.messages import ToolCall


class OpenCalls:
    """The open calls and children, derived from the events."""

    def __init__(self) -> None:
        self._of_model: dict[str, ToolCall] = {}
        self._step: tuple[str, ...] = ()
        self._cards: dict[str, CallProposed] = {}
        self._resting: set[str] = set()
        self.asked: set[str] = set()
        """The IDs of the calls about which the user is being asked."""
        self.started: dict[str, CallStarted] = {}
        """The calls that have started, by ID."""
        self.inner: dict[str, CallProposed] = {}
        """The calls made by other calls, by ID."""
        self._children: dict[str, ChildChanged] = {}

    def __eq__(self, other: object) -> bool:
        """Return whether the same calls and children are open."""
        return isinstance(other, OpenCalls) and vars(self) == vars(other)

    def begin_step(self, calls: tuple[ToolCall, ...]) -> None:
        """Add the calls of a model step."""
        self._of_model = {call.id: call for call in calls}
        self._step = tuple(self._of_model)

    def propose(self, event: CallProposed) -> None:
        """Add a call that was proposed and shown."""
        self._cards[event.call_id] = event
        if event.within:
            self.inner[event.call_id] = event

    def start(self, event: CallStarted) -> None:
        """Mark a call as started."""
        self.started[event.call_id] = event
        self._resting.discard(event.call_id)

    def rest(self) -> None:
        """Mark the calls without an outcome as suspended until the questions about them are answered."""
        self._resting = set(self._of_model)
        self.asked.clear()

    def change_child(self, event: ChildChanged) -> None:
        """Record the start or end of a child agent."""
        self._children[event.child_id] = event

    def end(self, call_id: str) -> None:
        """Remove a call that has its outcome, along with its children."""
        self._of_model.pop(call_id, None)
        self.started.pop(call_id, None)
        self.inner.pop(call_id, None)
        self._cards.pop(call_id, None)
        self._resting.discard(call_id)
        self.asked.discard(call_id)
        for child in self.children_of(call_id):
            del self._children[child.child_id]

    def ended_before(self, call_id: str) -> int | None:
        """Return how many earlier calls of the same step have an outcome, or None if the call belongs to no step."""
        if call_id not in self._step:
            return None
        before = self._step[: self._step.index(call_id)]
        return sum(other not in self._of_model for other in before)

    def card(self, call_id: str) -> CallProposed | None:
        """Return an open call as last shown, or None if it was not proposed."""
        return self._cards.get(call_id)

    def suspended(self) -> tuple[ToolCall, ...]:
        """List the calls that wait for answers, in order."""
        return tuple(call for call in self._of_model.values() if call.id in self._resting)

    def of_model(self) -> tuple[ToolCall, ...]:
        """List the model's calls that have no outcome yet, in order."""
        return tuple(self._of_model.values())

    def children(self) -> tuple[str, ...]:
        """List the IDs of the child agents whose call has no outcome yet."""
        return tuple(self._children)

    def children_of(self, call_id: str) -> list[ChildChanged]:
        """List the child agents of an open call, each as last recorded."""
        return [child for child in self._children.values() if child.call_id == call_id]

    def unended_children(self) -> list[ChildChanged]:
        """List the child agents whose end has not been recorded."""
        return [child for child in self._children.values() if child.reason is None]
