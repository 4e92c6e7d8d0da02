"""Track calls to a server, and answer the questions that the server may ask the user during a call.

A question goes to the user whose call it belongs to; it is declined if that call is unknown, or if a form asks for a
secret. A call's timeout is paused while the user thinks. Source: Model Context Protocol 2026-07-28, elicitation; in
earlier versions, a server's questions are not tied to a request.
"""

import math
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

import anyio

from hermes_acp.core.proposals import Progress, Question, Reply
from hermes_acp.core.secret_fields import is_secret_field
from hermes_acp.core.untrusted_text import plain

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import ElicitResult

T = TypeVar("T")
MAX_QUESTION_CHARS: Final = 2000
MAX_QUESTIONS: Final = 10
"""Maximum number of questions per call; any more are declined."""
WARNING: Final = "Do not enter a password, key or code: your answers are sent to that server unchanged."
ServerRequest = Callable[["Client"], Awaitable[T]]


class RequestFailed(Exception):
    """A server did not answer, or answered with an error; `words` describes the failure, with foreign text
    in a fence.
    """

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class McpServer(Protocol):
    """The interface of a server that can be called."""

    @property
    def name(self) -> str:
        """The server's name, as the user knows it."""
        ...

    @property
    def identity(self) -> str:
        """A value that distinguishes this server from others with the same name, such as one at another address."""
        ...

    def redact_tokens(self, text: str) -> str:
        """Return text from the server without the secrets that were sent to it."""
        ...

    def clean(self, text: str) -> str:
        """Return text from the server with attempts to instruct the model removed. Blocks."""
        ...

    async def ask(self, what: str, inquiry: ServerRequest[T], progress: Progress | None = None) -> T:
        """Send a request, described by `what`, and return its answer, however long that takes. Raises RequestFailed.

        With `progress`, the server may ask the user questions. Cancelling the request also cancels it at the server.
        """
        ...


class PendingCall:
    """A request, from its start until its answer."""

    def __init__(self, scope: anyio.CancelScope, progress: Progress | None) -> None:
        self.scope = scope
        self.progress = progress
        self.questions: set[anyio.CancelScope] = set()
        self.asked = 0


CURRENT_CALL: Final[ContextVar[PendingCall | None]] = ContextVar(
    "the call that belongs to this task", default=None
)


class PendingCalls:
    """The pending requests to a server."""

    def __init__(self, server: str, call_s: float) -> None:
        self._server = server
        self._call_s = call_s
        self._calls: list[PendingCall] = []

    @contextmanager
    def tracked(self, progress: Progress | None) -> Generator[None]:
        """Track a request while the block runs. Raises TimeoutError when its time limit expires."""
        with anyio.CancelScope(deadline=anyio.current_time() + self._call_s) as scope:
            call = PendingCall(scope, progress)
            self._calls.append(call)
            token = CURRENT_CALL.set(call)
            try:
                yield
            finally:
                CURRENT_CALL.reset(token)
                self._calls.remove(call)
                for question in call.questions:
                    question.cancel()
        if scope.cancelled_caught:
            raise TimeoutError

    async def elicit(self, context: object, params: Any) -> "ElicitResult":
        """Ask the user whose call it belongs to a server's question."""
        from mcp.types import ElicitResult

        del context
        call = self._current_call()
        if call is None or call.progress is None or not _is_supported(params):
            return ElicitResult(action="decline")
        call.asked += 1
        if call.asked > MAX_QUESTIONS:
            return ElicitResult(action="decline")
        if wanted := _secret_in(params):
            call.progress.output(
                f"[The MCP server {plain(self._server)!r} asked for {plain(wanted, 80)!r} in a form. Servers must not "
                "ask for secrets like that; it was declined.]\n"
            )
            return ElicitResult(action="decline")
        call.scope.deadline = math.inf
        reply: Reply | None = None
        with anyio.CancelScope() as scope:
            call.questions.add(scope)
            try:
                reply = await call.progress.inquire(_to_question(self._server, params))
            finally:
                call.questions.discard(scope)
                if not call.questions:
                    call.scope.deadline = anyio.current_time() + self._call_s
        return _to_elicit_result(reply, params)

    def _current_call(self) -> PendingCall | None:
        """Return this task's call or, if the server's question is not tied to a request, the only pending one."""
        if call := CURRENT_CALL.get():
            return call if call in self._calls else None
        return self._calls[0] if len(self._calls) == 1 else None


def _is_supported(params: Any) -> bool:
    return params.mode == "form" or params.url.lower().startswith(("https://", "http://"))


def _secret_in(params: Any) -> str:
    """Return the name of a form field that asks for a secret, or an empty string if there is none."""
    if params.mode == "url":
        return ""
    fields: dict[str, object] = params.requested_schema.get("properties") or {}
    for name, field in fields.items():
        about = cast("dict[str, object]", field) if isinstance(field, dict) else {}
        is_picked = about.get("type") in ("boolean", "array") or not about.keys().isdisjoint(
            ("enum", "oneOf", "const")
        )
        words = (name, about.get("title"), about.get("description"), about.get("format"))
        if not is_picked and any(isinstance(each, str) and is_secret_field(each) for each in words):
            return str(about.get("title") or name)
    return ""


def _to_question(server: str, params: Any) -> Question:
    text = f"The MCP server {plain(server)!r} asks: {plain(params.message, MAX_QUESTION_CHARS)}"
    if params.mode == "url":
        return Question(text, url=params.url)
    if is_secret_field(params.message):
        text = f"{text}\n\n{WARNING}"
    return Question(text, form=params.requested_schema)


def _to_elicit_result(reply: Reply | None, params: Any) -> "ElicitResult":
    """Convert the user's answer; only the requested fields are sent to the server."""
    from mcp.types import ElicitResult
    from pydantic import ValidationError

    if reply is None or reply.outcome == "declined":
        return ElicitResult(action="decline")
    if reply.outcome == "dismissed":
        return ElicitResult(action="cancel")
    if params.mode == "url":
        return ElicitResult(action="accept")
    asked_for: dict[str, object] = params.requested_schema.get("properties") or {}
    content = {name: value for name, value in reply.content.items() if name in asked_for}
    try:
        return ElicitResult.model_validate({"action": "accept", "content": content})
    except ValidationError:
        return ElicitResult(action="decline")
