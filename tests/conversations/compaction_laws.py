"""The rules for every compaction that is reported to an editor."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
KINDS = ("compaction_update", "compaction_summary_chunk")
ENDED = ("completed", "failed", "cancelled")


class CompactionLaws:
    """Checks the compactions of one connection."""

    def __init__(self) -> None:
        self._statuses: dict[tuple[str, str], str] = {}

    def watch(self, session_id: str, update: Json, *, is_taken: bool, is_replay: bool) -> Iterator[str]:
        """Report which rule an update breaks. A replayed compaction is shown only by its end."""
        kind = update["sessionUpdate"]
        if kind not in KINDS:
            return
        if not is_taken:
            yield f"{kind} to a client that does not take compactions"
        name = (session_id, update["compactionId"])
        status = self._statuses.get(name)
        if status in ENDED and not is_replay:
            yield f"{kind} of {name[1]} after its end"
        if kind == "compaction_summary_chunk":
            if status != "in_progress":
                yield f"words of the summary of {name[1]}, which has not begun"
            return
        if update.get("summary") and update["status"] != "completed":
            yield f"{name[1]} has a summary and is {update['status']}"
        if update.get("error") and update["status"] != "failed":
            yield f"{name[1]} has an error and is {update['status']}"
        self._statuses[name] = update["status"]

    def left_open(self, session_id: str) -> Iterator[str]:
        """Return the unfinished compactions of an idle session."""
        for (session, name), status in self._statuses.items():
            if session == session_id and status not in ENDED:
                yield f"the compaction {name} was left {status}"
