"""The editor's user as the one who is asked.

Knows: session/request_permission, and who puts other questions. Does not know: why a question is put. Whatever is not
a clear yes is a no.
"""

import msgspec
from msgspec import UNSET

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.frontends.acp.answer_extras import full_answer
from hermes_acp.frontends.acp.client_connection import ClientConnection
from hermes_acp.frontends.acp.permission_options import answer_of, answer_options, reason_for
from hermes_acp.frontends.acp.v2.inquiry import Inquiry
from hermes_acp.frontends.acp.v2.updates import question_of
from hermes_protocol import salvage, v2
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
        request = v2.RequestPermissionRequest(
            session_id=self._session_id,
            title=call.title,
            description=reason_for(call) or UNSET,
            subject=v2.ToolCallPermissionSubject(tool_call=question_of(call)),
            options=[
                v2.PermissionOption(option_id=offer.id, name=offer.name, kind=offer.kind)
                for offer in answer_options(permission_scope)
            ],
        )
        try:
            reply = await self._connection.request("session/request_permission", request, msgspec.Raw)
            response = salvage.decode(v2.RequestPermissionResponse, reply)
        except (PeerError, PeerGone, msgspec.MsgspecError):
            return "unavailable"
        if isinstance(response.outcome, v2.SelectedPermissionOutcome):
            return full_answer(answer_of(response.outcome.option_id), response.meta)
        return "cancelled"

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Put one question to the user."""
        return await self._inquiry.put(call_id, question)

    def close(self) -> None:
        """End what questions of this turn still have open."""
        self._inquiry.close()
