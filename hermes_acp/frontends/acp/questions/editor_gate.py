"""Ask a session's user through the client: permission questions, forms, and pages to open.

Only a clear yes counts as a yes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.questions.answer_extras import full_answer, is_unattended
from hermes_acp.frontends.acp.questions.elicitation_forms import answer_in, form_of, json_schema
from hermes_acp.frontends.acp.questions.permission_options import AnswerOption, answer_of, answer_options
from hermes_protocol import salvage
from hermes_protocol.errors import PeerError, PeerGone

T = TypeVar("T")
PermissionRequest = Callable[[str, CallProposed, tuple[AnswerOption, ...]], object]


class QuestionTypes(Struct, frozen=True):
    """The wire types for questions in one protocol version.

    The field names are the same in every version, except those of the parameters of session/request_permission, which
    `permission_request` creates from a session, a call and the options.
    """

    permission_request: PermissionRequest
    permission_response: Any
    form: Callable[..., object]
    form_schema: Any
    page: Callable[..., object]
    page_completed: Callable[..., object]
    elicitation_response: Any


class _Outcome(Struct, rename="camel"):
    outcome: str
    option_id: str = ""


class _PermissionResponse(Struct):
    outcome: _Outcome
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class _ElicitationResponse(Struct):
    action: str
    content: dict[str, Any] | None = None


class EditorGate:
    """Asks the user of a client the questions of one session."""

    def __init__(
        self,
        client: ClientConnection,
        session_id: str,
        types: QuestionTypes,
        show_waiting: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """Prepare the gate; `show_waiting` reports whether an elicitation is pending, in versions that can show it."""
        elicitation = client.announced and client.announced.elicitation
        self._takes_forms = bool(elicitation and elicitation.form)
        self._takes_pages = bool(elicitation and elicitation.url)
        self._client = client
        self._session_id = session_id
        self._types = types
        self._show_waiting = show_waiting
        self._open_pages: list[str] = []

    @property
    def is_connected(self) -> bool:
        """Whether the client can still answer."""
        return self._client.connection.is_open

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Ask whether a call may run; return `unavailable` for an unknown option or an unreadable response."""
        request = self._types.permission_request(self._session_id, call, answer_options(permission_scope))
        types = self._types.permission_response, _PermissionResponse
        response = await self._request("session/request_permission", request, *types)
        if response is None:
            return "unavailable"
        if response.outcome.outcome != "selected":
            return "unavailable" if is_unattended(response.meta) else "cancelled"
        return full_answer(answer_of(response.outcome.option_id), response.meta, call.diffs)

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Ask a question; return None if the client does not support it or its response cannot be parsed.

        If the client cannot open pages, it gets a form with the page's address.
        """
        if question.url and self._takes_pages:
            return await self._open_page(call_id, question)
        if not self._takes_forms:
            return None
        form = form_of(question)
        try:
            schema = salvage.decode(self._types.form_schema, json_schema(form))
        except msgspec.MsgspecError:
            return None
        request = self._types.form(message=form.text, requested_schema=schema, **self._target(call_id))
        reply = await self._elicit(request)
        return answer_in(form, reply.content) if reply and reply.outcome == "answered" else reply

    async def _open_page(self, call_id: str, question: Question) -> Reply | None:
        page_id = self._client.app.ids.fresh("page")
        request = self._types.page(
            message=question.text, elicitation_id=page_id, url=question.url, **self._target(call_id)
        )
        reply = await self._elicit(request)
        if reply is None or reply.outcome != "answered":
            return reply
        self._open_pages.append(page_id)
        return Reply("opened")

    def _target(self, call_id: str) -> dict[str, object]:
        return {"session_id": self._session_id, "tool_call_id": call_id or UNSET}

    async def _elicit(self, request: object) -> Reply | None:
        """Send an elicitation and return the reply, or None if the response is missing or malformed."""
        self._show_waiting(True)
        types = self._types.elicitation_response, _ElicitationResponse
        response = await self._request("elicitation/create", request, *types)
        self._show_waiting(False)
        match response:
            case _ElicitationResponse(action="accept"):
                return Reply("answered", content=response.content or {})
            case _ElicitationResponse(action="decline"):
                return Reply("declined")
            case _ElicitationResponse(action="cancel"):
                return Reply("dismissed")
            case _:
                return None

    async def _request(self, method: str, params: object, wire_type: Any, type_: type[T]) -> T | None:
        """Send a request and return its response, or None if the response is missing or malformed."""
        try:
            response = await self._client.connection.request(method, params, msgspec.Raw)
            return msgspec.convert(msgspec.to_builtins(salvage.decode(wire_type, response)), type_)
        except (PeerError, PeerGone, msgspec.MsgspecError):
            return None

    def close(self) -> None:
        """Tell the client that the pages it opened are no longer needed, because the turn has ended."""
        while self._open_pages:
            completed = self._types.page_completed(elicitation_id=self._open_pages.pop())
            self._client.connection.notify("elicitation/complete", completed)
