"""The editor's user as the one who is asked.

Knows: session/request_permission, and who puts other questions. Does not know: why a question is put. Whatever is not
a clear yes is a no.
"""

import msgspec

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.frontends.acp.answer_extras import full_answer
from hermes_acp.frontends.acp.approval_text import approval_text, call_meta
from hermes_acp.frontends.acp.client_connection import ClientConnection
from hermes_acp.frontends.acp.permission_options import answer_of, answer_options, reason_for
from hermes_acp.frontends.acp.v1.inquiry import Inquiry
from hermes_acp.frontends.acp.v1.updates import to_diffs, to_locations, to_text
from hermes_protocol import salvage, v1
from hermes_protocol.errors import PeerError, PeerGone


class EditorGate:
    """Asks the user of one session, for as long as the question stands."""

    def __init__(self, client: ClientConnection, session_id: str) -> None:
        self._connection = client.connection
        self._session_id = session_id
        self._inquiry = Inquiry(client, session_id)

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Put one call, under its own id and with its diff; an unknown option is no answer."""
        request = v1.RequestPermissionRequest(
            session_id=self._session_id, tool_call=_tool_call(call), options=_options(permission_scope)
        )
        try:
            reply = await self._connection.request("session/request_permission", request, msgspec.Raw)
            response = salvage.decode(v1.RequestPermissionResponse, reply)
        except (PeerError, PeerGone, msgspec.MsgspecError):
            return "unavailable"
        if isinstance(response.outcome, v1.SelectedPermissionOutcome):
            return full_answer(answer_of(response.outcome.option_id), response.meta)
        return "cancelled"

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Put one question to the user."""
        return await self._inquiry.put(call_id, question)

    def close(self) -> None:
        """End what questions of this turn still have open."""
        self._inquiry.close()


def _tool_call(call: CallProposed) -> v1.ToolCallUpdate:
    content: list[v1.ToolCallContent] = [*to_diffs(call.diffs)]
    if text := approval_text(call):
        content.append(to_text(text))
    if reason := reason_for(call):
        content.append(to_text(reason))
    return v1.ToolCallUpdate(
        tool_call_id=call.call_id,
        title=call.title,
        name=call.name,
        kind=call.kind,
        status="pending",
        content=content,
        locations=to_locations(call.locations),
        raw_input=call.raw_input,
        meta=call_meta(call, is_asked=True),
    )


def _options(permission_scope: PermissionScope) -> list[v1.PermissionOption]:
    return [
        v1.PermissionOption(option_id=offer.id, name=offer.name, kind=offer.kind)
        for offer in answer_options(permission_scope)
    ]
