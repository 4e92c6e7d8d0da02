"""The synchronous client: `agent.session.new(cwd=…)` calls `session/new` and returns its result."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from importlib import import_module
from types import TracebackType
from typing import Any, Final, Self, cast
from uuid import uuid4

from hermes_acp_client.agent_process import END_GRACE_S, AgentProcess
from hermes_acp_client.answers import capabilities_of, outcome_of, refuse
from hermes_acp_client.errors import AgentGone, AgentSilent, WrongVersion, refusal

JsonObject = dict[str, Any]
OnUpdate = Callable[[str, JsonObject], None]
OnPermission = Callable[[JsonObject], str | None]
Serve = Callable[[JsonObject], JsonObject | None]

VERSION: Final = 1
METHOD_NOT_FOUND: Final = -32601
INTERNAL_ERROR: Final = -32603
ANSWER_TIMEOUT_S: Final = 60.0
TURN_TIMEOUT_S: Final = 1800.0

_rpc: Any = import_module("jsonrpc_base")  # it does not ship types
_Server: Any = _rpc.Server


class BlockingAgent(_Server):
    """A running agent. Every method is an attribute path; `prompt`, `cancel` and `close` do more than call a method.

    `on_update(session_id, update)` receives each session update on the reading thread, in order, and must not call
    the agent. `on_permission(request)` returns the ID of the chosen option; None means no, and so does a missing
    callable. `serves` maps further methods, such as `fs/read_text_file`, to callables that take the parameters and
    return the result. The client announces exactly these methods to the agent.
    """

    session: Any
    authenticate: Any
    logout: Any

    def __init__(
        self,
        command: Sequence[str] = ("hermes-acp",),
        *,
        env: Mapping[str, str] | None = None,
        on_update: OnUpdate | None = None,
        on_permission: OnPermission | None = None,
        serves: Mapping[str, Serve] | None = None,
        answer_timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> None:
        """Start the command and initialize it. Raises AgentGone, AgentRefused, AgentSilent, WrongVersion."""
        _Server.__init__(self)
        self._on_update = on_update or _ignore
        self._on_permission = on_permission or refuse
        self._serves = dict(serves or {})
        self._answer_timeout_s = answer_timeout_s
        self._waiting: dict[str, Future[JsonObject]] = {}
        self._settling = threading.Lock()
        self._is_over = False
        self._process = AgentProcess(command, env)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self._greeting = self._initialize()
        except BaseException:
            self.close()
            raise

    @property
    def greeting(self) -> JsonObject:
        """The agent's response to `initialize`."""
        return self._greeting

    def new_session(self, cwd: str) -> str:
        """Open a session in an absolute folder, and return its ID."""
        return self.session.new(cwd=cwd, mcpServers=[])["sessionId"]

    def prompt(
        self, session_id: str, content: str | Sequence[JsonObject], timeout_s: float = TURN_TIMEOUT_S
    ) -> str:
        """Run a turn and return its stop reason. If the time runs out, cancel the turn and raise AgentSilent."""
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        params: JsonObject = {"sessionId": session_id, "prompt": blocks}
        try:
            return self._exchange("session/prompt", params, timeout_s)["stopReason"]
        except AgentSilent:
            self.cancel(session_id)
            raise

    def cancel(self, session_id: str) -> None:
        """Ask the agent to cancel the running turn; its `prompt` then returns "cancelled"."""
        self._notify("session/cancel", {"sessionId": session_id})

    def close(self) -> int:
        """End the agent and return its exit status. You can call this more than once."""
        status = self._process.end()
        if threading.current_thread() is not self._reader:
            self._reader.join(END_GRACE_S)
            if not self._reader.is_alive():
                self._process.close_pipes()
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send_message(self, message: Any) -> Any:
        """Perform the call of an attribute path. The base class calls this."""
        method = str(message.method).replace(".", "/")
        if isinstance(message.params, tuple):
            raise TypeError(f"{method} takes keyword arguments")
        named = cast("JsonObject", message.params or {})
        if message.msg_id is None:
            return self._notify(method, named)
        return self._exchange(method, named, self._answer_timeout_s)

    def _initialize(self) -> JsonObject:
        params = {
            "protocolVersion": VERSION,
            "clientCapabilities": capabilities_of(self._serves),
            "clientInfo": {"name": "hermes-acp-client", "version": "1"},
        }
        greeting = self._exchange("initialize", params, self._answer_timeout_s)
        if greeting.get("protocolVersion") != VERSION:
            raise WrongVersion(greeting.get("protocolVersion"), VERSION)
        return greeting

    def _exchange(self, method: str, params: JsonObject, timeout_s: float) -> JsonObject:
        if threading.current_thread() is self._reader:
            raise RuntimeError(f"{method} was called from on_update, which would deadlock")
        call = _rpc.Request(method, params, uuid4().hex)
        reply: Future[JsonObject] = Future()
        with self._settling:
            if self._is_over:
                raise self._process.exit_error()
            self._waiting[call.msg_id] = reply
        try:
            self._send({"id": call.msg_id, "method": method, "params": params})
            answer = reply.result(timeout_s)
        except FutureTimeoutError as error:
            raise AgentSilent(method, timeout_s) from error
        finally:
            with self._settling:
                self._waiting.pop(call.msg_id, None)
        if isinstance(failure := answer.get("error"), dict):
            told = cast("JsonObject", failure)
            raise refusal(method, told.get("code", 0), str(told.get("message", "")), told.get("data"))
        return call.parse_response(answer) or {}

    def _notify(self, method: str, params: JsonObject) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: JsonObject) -> None:
        self._process.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def _read(self) -> None:
        """Read every line until the agent ends, then make all pending calls fail."""
        for frame in self._process.frames():
            with suppress(ValueError):  # not JSON, so not a reply; the next line may be one
                self._take(json.loads(frame))
        with self._settling:
            self._is_over = True
            waiting = list(self._waiting.values())
        for reply in waiting:
            reply.set_exception(self._process.exit_error())

    def _take(self, message: JsonObject) -> None:
        if "method" not in message:
            with self._settling:
                reply = self._waiting.get(str(message.get("id")))
            if reply is not None and not reply.done():
                reply.set_result(message)
        elif "id" in message:
            threading.Thread(target=self._answer, args=(message,), daemon=True).start()
        elif message["method"] == "session/update":
            self._on_update(message["params"]["sessionId"], message["params"]["update"])

    def _answer(self, message: JsonObject) -> None:
        """Serve one request from the agent, which always gets an answer."""
        method = str(message["method"])
        params = cast("JsonObject", message.get("params") or {})
        answer: JsonObject = {"id": message["id"]}
        failure = {"code": INTERNAL_ERROR, "message": f"the client failed to serve {method}"}
        try:
            if method == "session/request_permission":
                answer["result"] = outcome_of(params, self._on_permission(params))
            elif method in self._serves:
                answer["result"] = self._serves[method](params) or {}
            else:
                failure = {"code": METHOD_NOT_FOUND, "message": f"the client does not serve {method}"}
        except OSError as error:
            failure["message"] = str(error)
        finally:
            if "result" not in answer:
                answer["error"] = failure
            with suppress(AgentGone):
                self._send(answer)


def _ignore(session_id: str, update: JsonObject) -> None:
    del session_id, update
