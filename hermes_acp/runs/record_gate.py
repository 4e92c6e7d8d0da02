"""The permission gate of a run.

Questions stay in the record until a person answers; without an answer, there is no approval.
"""

from collections.abc import Sequence

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import AnswerAwaited, PermissionResponse, PermissionScope
from hermes_acp.core.ports.run_ports import RunMessage
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.record.session_record import Record
from hermes_acp.runs.open_questions import ASK_USER, digest_of


class RecordGate:
    """Returns the answers that a run has received. If there is none, the turn is suspended.

    Only the model's own calls can be suspended. All other callers (a child agent, a script, a server, an untrusted
    file) are told that nobody is available to answer.
    """

    def __init__(self, record: Record, messages: Sequence[RunMessage]) -> None:
        self._record = record
        self._messages = messages
        self.asked: list[str] = []
        """The IDs of the calls whose questions are open."""

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Return the answer to exactly this question. Raises AnswerAwaited."""
        if not self._is_of_model(call.call_id):
            return "unavailable"
        message = self._answer_to(call)
        return PermissionResponse(
            message.answer, message.text, message.texts, message.left_out, by=message.by
        )

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Return the answer to the agent's own question. Raises AnswerAwaited."""
        card = self._record.calls.card(call_id)
        if card is None or card.name != ASK_USER or not self._is_of_model(call_id):
            return None
        message = self._answer_to(card)
        if message.answer.startswith("reject"):
            return Reply("declined", message.text)
        return Reply("opened" if question.url and not message.text else "answered", message.text)

    def _is_of_model(self, call_id: str) -> bool:
        return any(call.id == call_id for call in self._record.calls.of_model())

    def _answer_to(self, card: CallProposed) -> RunMessage:
        shown = digest_of(card)
        for message in reversed(self._messages):
            if message.call_id == card.call_id and message.shown == shown:
                return message
        self.asked.append(card.call_id)
        raise AnswerAwaited
