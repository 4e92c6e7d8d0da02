"""Questions to the editor's user, as far as the editor can put them.

Knows: elicitation/create by form and by address, elicitation/complete. Does not know: why a question is put.
"""

import msgspec

from hermes_acp.core.proposals import Question, Reply
from hermes_acp.frontends.acp.client_connection import ClientConnection
from hermes_acp.frontends.acp.elicitation_forms import Form, answer_in, form_of
from hermes_acp.frontends.acp.v2.audience import notify
from hermes_protocol import salvage, v2
from hermes_protocol.errors import PeerError, PeerGone


class Inquiry:
    """The questions of one turn."""

    def __init__(self, client: ClientConnection, session_id: str) -> None:
        announced = _announced(client)
        self._takes_forms = bool(announced and announced.form)
        self._takes_addresses = bool(announced and announced.url)
        self._client = client
        self._session_id = session_id
        self._opened: list[str] = []

    async def put(self, call_id: str, question: Question) -> Reply | None:
        """Put one question; None where the editor cannot, or does not understand its own user.

        An address goes into a form where the editor opens none itself.
        """
        if question.url and self._takes_addresses:
            return await self._open(call_id, question)
        if not self._takes_forms:
            return None
        form = form_of(question)
        try:
            schema = _schema_of(form)
        except msgspec.MsgspecError:
            return None
        request = v2.CreateElicitationRequestForm(
            message=form.text,
            requested_schema=schema,
            session_id=self._session_id,
            tool_call_id=call_id or v2.UNSET,
        )
        response = await self._ask(request)
        if isinstance(response, v2.CreateElicitationResponseAccept):
            return answer_in(form, response.content)
        return _read(response)

    async def _open(self, call_id: str, question: Question) -> Reply | None:
        elicitation_id = self._client.app.ids.fresh("page")
        request = v2.CreateElicitationRequestUrl(
            message=question.text,
            elicitation_id=elicitation_id,
            url=question.url,
            session_id=self._session_id,
            tool_call_id=call_id or v2.UNSET,
        )
        response = await self._ask(request)
        if isinstance(response, v2.CreateElicitationResponseAccept):
            self._opened.append(elicitation_id)
            return Reply("opened")
        return _read(response)

    async def _ask(
        self, request: v2.CreateElicitationRequestForm | v2.CreateElicitationRequestUrl
    ) -> v2.CreateElicitationResponse | None:
        """Ask, while the session waits for its user; a turn that is stopped meanwhile tells its own end."""
        notify(self._client, self._session_id, v2.SessionUpdateRequiresActionStateUpdate())
        try:
            raw = await self._client.connection.request("elicitation/create", request, msgspec.Raw)
            response = salvage.decode(v2.CreateElicitationResponse, raw)
        except (PeerError, PeerGone, msgspec.MsgspecError):
            response = None
        notify(self._client, self._session_id, v2.SessionUpdateRunningStateUpdate())
        return response

    def close(self) -> None:
        """Let the editor put away the pages it opened: the turn that wanted them is over."""
        while self._opened:
            done = v2.CompleteElicitationNotification(elicitation_id=self._opened.pop())
            self._client.connection.notify("elicitation/complete", done)


def _announced(client: ClientConnection) -> v2.ElicitationCapabilities | None:
    said = client.announced if isinstance(client.announced, v2.ClientCapabilities) else None
    return (said.elicitation if said else None) or None


def _schema_of(form: Form) -> v2.ElicitationSchema:
    """Lay a form out for the wire. Raises MsgspecError for a foreign one that has no place there."""
    if form.foreign is not None:
        return salvage.decode(v2.ElicitationSchema, msgspec.json.encode(form.foreign))
    properties: dict[str, v2.ElicitationPropertySchema] = {
        field.name: v2.StringPropertySchema(
            title=field.title, enum=list(field.choices) if field.choices else v2.UNSET
        )
        for field in form.fields
    }
    required = list(form.required) if form.required else v2.UNSET
    return v2.ElicitationSchema(type="object", properties=properties, required=required)


def _read(response: v2.CreateElicitationResponse | None) -> Reply | None:
    match response:
        case v2.CreateElicitationResponseDecline():
            return Reply("declined")
        case v2.CreateElicitationResponseCancel():
            return Reply("dismissed")
        case _:
            return None
