"""The editor's user as the one who is asked.

Knows: session/request_permission. Does not know: why a question is put. Whatever is not a clear yes is a no.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports import Answer
from hermes_acp.faces.acp.v1.updates import to_diffs, to_locations, to_text
from hermes_protocol import salvage, v1
from hermes_protocol.connection import Connection
from hermes_protocol.errors import PeerError, PeerGone

ANSWERS: Final[Mapping[str, Answer]] = MappingProxyType(
    {
        "allow_once": "allow_once",
        "allow_always": "allow_always",
        "reject_once": "reject_once",
        "reject_always": "reject_always",
    }
)


class EditorGate:
    """Asks the user of one session, for as long as the question stands."""

    def __init__(self, connection: Connection, session_id: str) -> None:
        self._connection = connection
        self._session_id = session_id

    async def ask(self, call: CallProposed, *, can_last: bool) -> Answer:
        """Put one call, under its own id and with its diff; an unknown option is a refusal."""
        request = v1.RequestPermissionRequest(
            session_id=self._session_id, tool_call=_tool_call(call), options=_options(call, can_last=can_last)
        )
        try:
            reply = await self._connection.request("session/request_permission", request, msgspec.Raw)
            outcome = salvage.decode(v1.RequestPermissionResponse, reply).outcome
        except (PeerError, PeerGone, msgspec.MsgspecError):
            return "unavailable"
        if isinstance(outcome, v1.SelectedPermissionOutcome):
            return ANSWERS.get(outcome.option_id, "reject_once")
        return "cancelled"


def _tool_call(call: CallProposed) -> v1.ToolCallUpdate:
    content: list[v1.ToolCallContent] = [*to_diffs(call.diffs)]
    if call.kind == "execute":
        content.append(to_text(call.title))
    return v1.ToolCallUpdate(
        tool_call_id=call.call_id,
        title=call.title,
        name=call.name,
        kind=call.kind,
        status="pending",
        content=content,
        locations=to_locations(call.locations),
        raw_input=call.raw_input,
    )


def _options(call: CallProposed, *, can_last: bool) -> list[v1.PermissionOption]:
    once = [
        v1.PermissionOption(option_id="allow_once", name="Allow once", kind="allow_once"),
        v1.PermissionOption(option_id="reject_once", name="Reject", kind="reject_once"),
    ]
    if not can_last:
        return once
    what = "this command" if call.kind == "execute" else "changes to this file"
    always = f"Allow {what} for the whole session"
    never = f"Reject {what} for the whole session"
    return [
        once[0],
        v1.PermissionOption(option_id="allow_always", name=always, kind="allow_always"),
        once[1],
        v1.PermissionOption(option_id="reject_always", name=never, kind="reject_always"),
    ]
