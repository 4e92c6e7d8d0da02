"""Ids of our own for the calls of one answer of the model.

Many models count from zero in each answer, so two sessions of one client would hold the same id, and the answer to one
session's question could reach the other's call. Clients know calls by our ids alone; the model's go back to the model.
"""

from collections.abc import Iterable

from msgspec import structs

from hermes_acp.core.messages import ToolCall
from hermes_acp.core.ports.runtime_ports import Ids


class CallIds:
    """Name the calls of one answer: a draft of a call gets the id that the call has later."""

    def __init__(self, ids: Ids) -> None:
        """Take ids from `ids`, which gives none twice, in no process."""
        self._ids = ids
        self._own: dict[str, str] = {}

    def own(self, key: str) -> str:
        """Return our id for the call that the model names `key` in this answer."""
        if key not in self._own:
            self._own[key] = self._ids.fresh("call")
        return self._own[key]

    def named(self, calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
        """Return the calls under ids of our own, each with the model's id beside it."""
        named: dict[str, ToolCall] = {}
        for call in calls:
            own_id = self.own(call.id)
            if own_id in named:
                own_id = self._ids.fresh("call")
            named[own_id] = structs.replace(call, id=own_id, vendor_id=call.id)
        return tuple(named.values())
