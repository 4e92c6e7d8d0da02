"""The rules for the card of every call: one ID until its end, states in order, absolute paths, one diff per file."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
ENDS = frozenset({"completed", "failed"})


class CallLaws:
    """Checks the cards of one connection."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], str] = {}

    def watch(self, session_id: str, update: Json) -> Iterator[str]:
        """Process an update, and report which rule it breaks."""
        if update["sessionUpdate"] not in ("tool_call", "tool_call_update"):
            return
        named = (session_id, update["toolCallId"])
        yield from _faults_of(update)
        state, before = update.get("status"), self._states.get(named)
        if update["sessionUpdate"] == "tool_call" and before not in (None, *ENDS):
            yield f"the card {named[1]} is shown a second time while it is open"
        if state == "pending" and before == "in_progress":
            yield f"the card {named[1]} went back to pending"
        if state == "completed" and before != "in_progress" and update["sessionUpdate"] == "tool_call_update":
            yield f"the card {named[1]} was completed and never in progress"
        if state in ENDS and update["sessionUpdate"] == "tool_call_update" and "rawOutput" not in update:
            yield f"the card {named[1]} ended without its raw output"
        if state:
            self._states[named] = state

    def watch_question(self, session_id: str, call: Json) -> Iterator[str]:
        """Process a permission request: it must be about a call that is shown and has not started."""
        state = self._states.get((session_id, call["toolCallId"]))
        if state != "pending":
            yield f"the call {call['toolCallId']} is asked about while its card is {state}"
        yield from _faults_of(call)


def _faults_of(card: Json) -> Iterator[str]:
    diffs = [each for each in card.get("content") or () if each["type"] == "diff"]
    paths = [diff["path"] for diff in diffs]
    for path in (*paths, *(place["path"] for place in card.get("locations") or ())):
        if not path.startswith("/"):
            yield f"the card {card['toolCallId']} names {path}, which is no absolute path"
    if len(set(paths)) < len(paths):
        yield f"the card {card['toolCallId']} has several diffs of one file"
    for place in card.get("locations") or ():
        if (place.get("line") or 1) < 1:
            yield f"the card {card['toolCallId']} names a line before the first"
