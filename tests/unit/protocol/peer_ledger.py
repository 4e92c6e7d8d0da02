"""The messages that one far end sent and received, and the replies they permit: the model to compare the peer with."""

from typing import Any

from hermes_protocol.connection import CANCEL_REQUEST
from hermes_protocol.errors import CANCELLED, INTERNAL_ERROR, INVALID_REQUEST

Id = int | str
FAILURE = -5
REFUSAL = -7
SECRET = "secret detail"


class Asked:
    """One unanswered request of the far end."""

    def __init__(self, token: int) -> None:
        self.token = token
        self.may_be_cancelled = False


class Ledger:
    """Checks every message received; errors are listed in `violations`."""

    def __init__(self, most_in_flight: int) -> None:
        self.violations: list[str] = []
        self.is_closing = False
        self.unanswered: dict[Id, list[Asked]] = {}
        self.outcomes: dict[int, object] = {}
        self.must_not_wait: set[int] = set()
        self.updates_heard = 0
        self.notes_said = 0
        self.notes_taken = 0
        self.junk_said = 0
        self.junk_perhaps = 0
        self.junk_heard = 0
        self.questions: dict[int, int] = {}
        self.first_replies: dict[int, object] = {}
        self.cancels_heard: list[int] = []
        self._most_in_flight = most_in_flight

    def check(self, is_true: bool, complaint: str) -> None:
        if not is_true:
            self.violations.append(complaint)

    def say_request(self, call_id: Id, token: int) -> None:
        self.unanswered.setdefault(call_id, []).append(Asked(token))

    def say_cancel(self, call_id: Id) -> None:
        for asked in self.unanswered.get(call_id, []):
            asked.may_be_cancelled = True
            self.must_not_wait.add(asked.token)

    def has_cancel(self, call_id: Id) -> bool:
        return any(asked.may_be_cancelled for asked in self.unanswered.get(call_id, []))

    def say_reply(self, question_id: int, effect: object) -> None:
        """Record a reply; `effect` is the result or the error code that its caller must see."""
        if question_id in self.first_replies or question_id not in self.questions:
            self.junk_perhaps += 1
        self.first_replies.setdefault(question_id, effect)
        self.junk_perhaps += 1

    def take_note(self, number: int) -> None:
        self.check(number == self.notes_taken, f"note {number} was taken after {self.notes_taken} others")
        self.notes_taken += 1

    def hear(self, message: Any) -> None:
        """Check one message of the connection."""
        self.check(message.get("jsonrpc") == "2.0", f"no version: {message}")
        self.check(SECRET not in str(message), "the text of an exception leaked")
        if message.get("method") == "update":
            number = message["params"]["n"]
            self.check(
                number == self.updates_heard, f"update {number} came after {self.updates_heard} others"
            )
            self.updates_heard += 1
        elif message.get("method") == "ask":
            self.check(message["id"] not in self.questions, f"a second question with id {message['id']}")
            self.questions[message["id"]] = message["params"]["n"]
        elif message.get("method") == CANCEL_REQUEST:
            question_id = message["params"]["requestId"]
            self.check(question_id in self.questions, f"cancel of {question_id}, which was never asked")
            self.check(question_id not in self.cancels_heard, f"a second cancel of {question_id}")
            self.cancels_heard.append(question_id)
        elif message["id"] is None:
            self.check(message["error"]["code"] == INVALID_REQUEST, f"not the error of junk: {message}")
            self.junk_heard += 1
        else:
            self._hear_answer(message)

    def _hear_answer(self, message: Any) -> None:
        # Requests with one ID are handled in order; while the first runs, the others are refused at once.
        waiting = self.unanswered.get(message["id"], [])
        if not waiting:
            self.violations.append(f"an answer to nothing: {message}")
            return
        error = message.get("error")
        is_double = (
            error is not None
            and error["code"] == INVALID_REQUEST
            and error["message"].endswith("still running")
        )
        if is_double and len(waiting) == 1:
            self.violations.append(f"the only request of its id is refused: {message}")
            return
        asked = waiting.pop(1 if is_double else 0)
        if not is_double:
            self._judge_outcome(asked, message)

    def _judge_outcome(self, asked: Asked, message: Any) -> None:
        outcome = self.outcomes.get(asked.token)
        error = message.get("error")
        if error is None:
            self.check(message["result"]["token"] == asked.token, f"the answer of another request: {message}")
            self.check(outcome == "result", f"a result while the handler ended with {outcome}: {message}")
            updates = message["result"]["updates"]
            self.check(updates <= self.updates_heard, "an answer before the updates of its request")
        elif error["code"] == CANCELLED:
            self.check(asked.may_be_cancelled or self.is_closing, f"cancelled by nobody: {message}")
        elif error.get("data") == {"code": "overloaded"}:
            is_full = sum(map(len, self.unanswered.values())) >= self._most_in_flight
            self.check(is_full, "refused with room for more")
        elif error["code"] == INTERNAL_ERROR and "trace" in error.get("data", ()):
            self.check(outcome == "break", f"a bug where the handler ended with {outcome}: {message}")
        else:
            self.check(outcome == error["code"], f"the handler ended with {outcome}: {message}")
