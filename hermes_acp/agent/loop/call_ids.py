"""Replace the call IDs in a model's answer with our own.

Many models number calls from zero in each answer, so two sessions of one client would use the same ID, and the answer
to one session's question could reach the other's call. Clients see only our IDs; the model sees only its own.
"""

from collections.abc import Iterable

from msgspec import structs

from hermes_acp.core.messages import ToolCall
from hermes_acp.core.ports.runtime_ports import Ids


class CallIds:
    """Maps the call IDs of one answer; the draft of a call already has the ID that the call gets later."""

    def __init__(self, ids: Ids) -> None:
        """Take new IDs from `ids`, which are unique across processes."""
        self._ids = ids
        self._own: dict[str, str] = {}

    def own(self, key: str) -> str:
        """Return our ID for the call that the model calls `key` in this answer."""
        if key not in self._own:
            self._own[key] = self._ids.fresh("call")
        return self._own[key]

    def named(self, calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
        """Return the calls with our IDs, keeping the model's IDs in `vendor_id`."""
        named: dict[str, ToolCall] = {}
        for call in calls:
            own_id = self.own(call.id)
            if own_id in named:
                own_id = self._ids.fresh("call")
            named[own_id] = structs.replace(call, id=own_id, vendor_id=call.id)
        return tuple(named.values())
