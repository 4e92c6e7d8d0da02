"""An editor played by the test: it sends scripted answers, and checks the agent's frames against the rules."""

import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from hermes_protocol.connection import Connection, IncomingRequest
from hermes_protocol.errors import METHOD_NOT_FOUND, NOT_FOUND, PeerError
from hermes_protocol.transport import MemoryTransport
from tests.conversations.wire_laws import STABLE, Json, WireLaws
from tests.conversations.wire_laws_v2 import DraftLaws

WAIT_S = 60.0
Answerer = Callable[[Json], Any]


class WatchedTransport:
    """The editor's end of the pair, with checks of every frame."""

    def __init__(self, inner: MemoryTransport, laws: WireLaws) -> None:
        self._inner = inner
        self._laws = laws
        self._received = b""
        self._sent = b""

    async def receive(self) -> bytes:
        data = await self._inner.receive()
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._laws.watch_received(json.loads(line))
        return data

    async def send(self, data: bytes) -> None:
        *lines, self._sent = (self._sent + data).split(b"\n")
        for line in lines:
            self._laws.watch_sent(json.loads(line))
        await self._inner.send(data)

    async def send_eof(self) -> None:
        await self._inner.send_eof()

    async def aclose(self) -> None:
        await self._inner.aclose()


class FakeEditor:
    """One client. `on` maps a method to its answer; `asked` stores the agent's requests, in order."""

    def __init__(self, transport: MemoryTransport, schema: str = STABLE) -> None:
        self.laws = DraftLaws(schema) if schema.startswith("v2") else WireLaws(schema)
        self.notified: list[tuple[str, Json]] = []
        self.connection = Connection(WatchedTransport(transport, self.laws), self, on_bug=self._note_bug)
        self.updates: list[tuple[str, Json]] = []
        self.opened: dict[str, Json] = {}
        self.asked: list[tuple[str, Json]] = []
        self.given_up: list[Json] = []
        self.buffers: dict[str, str] = {}
        self.on: dict[str, Answerer] = {
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "session/request_permission": allow("allow_once"),
        }
        self._changed = anyio.Event()

    def _note_bug(self, error: BaseException, trace: str) -> None:
        self.laws.faults.append(f"the fake editor failed: {error!r}")

    async def request(self, call: IncomingRequest) -> object:
        params = json.loads(bytes(call.params))
        self.asked.append((call.method, params))
        self._wake()
        answerer = self.on.get(call.method)
        if answerer is None:
            raise PeerError(METHOD_NOT_FOUND, "no such method")
        try:
            answer = answerer(params)
            return await answer if inspect.isawaitable(answer) else answer
        except anyio.get_cancelled_exc_class():
            self.given_up.append(params)
            self._wake()
            raise

    def notification(self, method: str, params: msgspec.Raw) -> Awaitable[None] | None:
        plain = json.loads(bytes(params))
        self.notified.append((method, plain))
        if method == "session/update" and "type" not in plain["update"]:
            self.updates.append((plain["sessionId"], plain["update"]))
        self._wake()
        return None

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _read(self, params: Json) -> Json:
        if params["path"] not in self.buffers:
            raise PeerError(NOT_FOUND, "no such buffer")
        return {"content": self.buffers[params["path"]]}

    def _write(self, params: Json) -> Json:
        self.buffers[params["path"]] = params["content"]
        with open(params["path"], "w", encoding="utf-8") as file:
            file.write(params["content"])
        return {}

    async def call(self, method: str, params: object) -> Any:
        """Call the agent; raises PeerError for an error reply."""
        with anyio.fail_after(WAIT_S):
            return json.loads(bytes(await self.connection.request(method, params, msgspec.Raw)))

    async def refusal(self, method: str, params: object) -> PeerError:
        """Call the agent and return the error it must answer with."""
        try:
            answer = await self.call(method, params)
        except PeerError as error:
            return error
        raise AssertionError(f"{method} was answered with {answer}")

    async def initialize(self, version: int = 1, **capabilities: Any) -> Json:
        self.laws.capabilities = dict(capabilities)
        params: Json = {"protocolVersion": version}
        if capabilities:
            params["clientCapabilities"] = capabilities
        return await self.call("initialize", params)

    async def new_session(self, cwd: object) -> str:
        answer = await self.call("session/new", {"cwd": str(cwd), "mcpServers": []})
        self.opened[answer["sessionId"]] = answer
        return answer["sessionId"]

    def options(self, session_id: str) -> list[Json]:
        """Return a new session's options as last sent, in the answer that opened it or in a later update."""
        updates = ShownSession(self, session_id).of("config_option_update")
        return [self.opened[session_id], *updates][-1]["configOptions"]

    async def prompt(self, session_id: str, text: str = "go") -> str:
        """Prompt and return the stop reason."""
        block = {"type": "text", "text": text}
        return (await self.call("session/prompt", {"sessionId": session_id, "prompt": [block]}))["stopReason"]

    async def prompt_refusal(self, session_id: str, text: str = "go") -> PeerError:
        """Prompt and return the error the turn must end with."""
        block = {"type": "text", "text": text}
        return await self.refusal("session/prompt", {"sessionId": session_id, "prompt": [block]})

    def cancel(self, session_id: str) -> None:
        self.connection.notify("session/cancel", {"sessionId": session_id})

    async def set_mode(self, session_id: str, mode: str) -> None:
        await self.call("session/set_mode", {"sessionId": session_id, "modeId": mode})

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait until something that the agent sends fulfils a condition."""
        with anyio.fail_after(WAIT_S):
            while not is_so():
                await self._changed.wait()

    def asks(self, method: str) -> list[Json]:
        """Return the parameters of every call of one method."""
        return [params for name, params in self.asked if name == method]


def allow(option: str) -> Answerer:
    """Answer every permission request with one option."""
    return lambda params: {"outcome": {"outcome": "selected", "optionId": option}}


class ShownSession:
    """A session as its updates show it."""

    def __init__(self, editor: FakeEditor, session_id: str, since: int = 0) -> None:
        self.updates = [update for name, update in editor.updates[since:] if name == session_id]

    def of(self, kind: str) -> list[Json]:
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    @property
    def text(self) -> str:
        return "".join(update["content"]["text"] for update in self.of("agent_message_chunk"))

    @property
    def thoughts(self) -> str:
        return "".join(update["content"]["text"] for update in self.of("agent_thought_chunk"))

    @property
    def cards(self) -> dict[str, Json]:
        """Return each card as an editor finally shows it."""
        cards: dict[str, Json] = {}
        for update in self.updates:
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                cards.setdefault(update["toolCallId"], {}).update(update)
        return cards

    def statuses(self, call_id: str) -> list[str]:
        mine = [update for update in self.updates if update.get("toolCallId") == call_id]
        return [update["status"] for update in mine if "status" in update]
