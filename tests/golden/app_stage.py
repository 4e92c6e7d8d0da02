"""The environment for a transcript in one process: an app with a scripted model, over a pair of memory transports."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

import anyio

from hermes_acp.core.errors import ModelUnavailable
from hermes_acp.core.messages import FinishReason, ToolCall, Usage
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection_server import serve
from hermes_protocol.transport import MemoryTransport, memory_pair
from tests.conversations.app_scene import Scene
from tests.conversations.scripted_provider import Beat, Pause, ScriptedThought, Step
from tests.conversations.wire_laws import WireLaws
from tests.conversations.wire_laws_v2 import DraftLaws
from tests.golden.replay import Stage
from tests.golden.transcript import WITHOUT_SKILLS, Header, Json
from tests.model_server import Fault, Reply

MODEL_URL = "http://scripted.invalid/v1"
PLACE = "scripted.invalid"
FINISHES: dict[str, FinishReason] = {"length": "length", "content_filter": "refusal"}
MODELS = ("scripted-large", "scripted-small")


class MemoryWire:
    """The client's end of the pair, with checks of every frame."""

    def __init__(self, transport: MemoryTransport, laws: WireLaws, listing: Pause) -> None:
        self._transport = transport
        self._listing = listing
        self._laws = laws
        self._read = b""

    async def send(self, line: bytes) -> None:
        """Send one line."""
        self._watch(line)
        await self._transport.send(line)

    def _watch(self, line: bytes) -> None:
        try:
            frame = json.loads(line)
        except json.JSONDecodeError:
            return
        if isinstance(frame, dict):
            said = cast("Json", frame)
            if said.get("method") == "initialize":
                announced = "clientCapabilities" if said["params"]["protocolVersion"] == 1 else "capabilities"
                self._laws.capabilities = said["params"].get(announced, {})
            self._laws.watch_sent(said)

    async def receive(self) -> Json | None:
        """Receive the agent's next frame."""
        while b"\n" not in self._read:
            piece = await self._transport.receive()
            if not piece:
                return None
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        frame: Json = json.loads(line)
        self._laws.watch_received(frame)
        return frame

    async def list_models(self) -> None:
        """Let the models be listed."""
        self._listing.go.set()

    async def leave(self) -> None:
        """Send nothing more."""
        await self._transport.send_eof()


@asynccontextmanager
async def app_stage(scene: Scene, header: Header) -> AsyncGenerator[tuple[MemoryWire, Stage]]:
    """Build an app for a transcript; the wire rules are checked at the end."""
    set_scene(scene, header)
    near, far = memory_pair()
    scene.provider.listing = listing = Pause()
    laws = DraftLaws(header.schema) if header.protocol > 1 else WireLaws(header.schema)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, near, scene.open_app(), ClientConnection())
        try:
            yield MemoryWire(far, laws, listing), Stage(scene.project, MODEL_URL)
        finally:
            with anyio.CancelScope(shield=True):
                await far.aclose()
    assert laws.faults == [], "\n".join(laws.faults)


def set_scene(scene: Scene, header: Header) -> None:
    """Create the files, the app and the client of a transcript."""
    scene.overrides = {"checkpoints.enabled": False}
    scene.variables |= {
        "HERMES_MODEL": MODELS[0],
        "OPENAI_BASE_URL": MODEL_URL,
        "OPENAI_API_KEY": "sk-golden",
    }
    scene.variables |= header.environment
    scene.home.mkdir()
    (scene.home / "config.yaml").write_text(WITHOUT_SKILLS + header.settings, encoding="utf-8")
    for name, content in header.files.items():
        scene.write(name, content)
    scene.provider.name = "openai_compatible"
    scene.provider.listed = MODELS
    scene.provider.plays(*map(_step, header.replies))


def _step(reply: Reply) -> Step:
    pieces: list[Beat] = [*map(ScriptedThought, reply.thinking_deltas()), *reply.text_deltas()]
    for hold in sorted(reply.holds, key=lambda hold: -(hold.after or 0)):
        pieces.insert(hold.after or 0, Pause())
    for number, call in enumerate(reply.tool_calls):
        pieces.append(ToolCall(call.id or f"call_{number}", call.name, call.arguments_text()))
    if reply.fault != Fault():
        pieces.append(_model_error(reply.fault))
    usage = Usage(reply.usage.input_tokens, reply.usage.output_tokens)
    return Step(tuple(pieces), FINISHES.get(reply.finish or ""), usage)


def _model_error(fault: Fault) -> ModelUnavailable:
    """Return the error that a provider would raise for a fault."""
    if fault.status:
        return ModelUnavailable(
            f"{PLACE} answered with status {fault.status}. It said: {fault.message}", retryable=True
        )
    return ModelUnavailable(f"The answer from {PLACE} broke off before its end.", retryable=True)
