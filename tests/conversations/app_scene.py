"""The whole app in one process, over a pair of memory transports.

A scene outlives its apps: opening a second one on it acts like a restart of the process.
"""

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from hermes_acp.app.app import App
from hermes_acp.config.environment import environment_of
from hermes_acp.config.model_choice import ModelChoice
from hermes_acp.config.settings import Settings
from hermes_acp.core.messages import AssistantMessage, ModelRequest, TextPart, ToolMessage, UserMessage
from hermes_acp.core.ports.session_ports import SessionObserver
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection_server import serve
from hermes_acp.models.wire.endpoints import Connection
from hermes_protocol.transport import memory_pair
from tests.conversations.fake_editor import WAIT_S, FakeEditor
from tests.conversations.scripted_provider import ScriptedProvider
from tests.conversations.wire_laws import STABLE

START_S = 1_750_000_000.0


class SteppingClock:
    """A clock that advances by a second whenever it is read, and whose stopwatch stands still."""

    def __init__(self) -> None:
        self.now_s = START_S

    def now(self) -> float:
        self.now_s += 1
        return self.now_s

    def monotonic(self) -> float:
        return 100.0


class RealClock(SteppingClock):
    """The machine's own time, which its files also have."""

    def now(self) -> float:
        return time.time()


class SequentialIds:
    """IDs in request order; calls in a script keep the IDs they have there, unless one is taken."""

    def __init__(self, call_names: list[str] | None = None) -> None:
        self.count = 0
        self._call_names = [] if call_names is None else call_names
        self._used: set[str] = set()

    def fresh(self, kind: str) -> str:
        name = self._call_names.pop(0) if kind == "call" and self._call_names else ""
        if name and name not in self._used:
            self._used.add(name)
            return name
        self.count += 1
        return f"{kind}_{self.count:04}"


class Scene:
    """One user's machine: a home folder, a project, a model."""

    def __init__(self, place: Path) -> None:
        self.home = place / "home"
        self.project = place / "project"
        self.project.mkdir()
        self.schema = STABLE
        self.provider = ScriptedProvider()
        self.others: dict[str, ScriptedProvider] = {}
        self.is_connected_for_real = False
        self.connected: list[tuple[Settings, ModelChoice]] = []
        self.clock = SteppingClock()
        self.ids = SequentialIds(self.provider.call_names)
        self.overrides: dict[str, object] = {
            "retry.first_wait_s": 0.001,
            "retry.attempts": 3,
            "checkpoints.enabled": False,  # Checkpoints start git; `checkpointed` scenes have them.
            "skills.look_back_after_calls": 0,  # Titles ask the model; scenes about titles enable them.
        }
        self.variables = {
            "HERMES_HOME": str(self.home),
            "HERMES_MODEL": "scripted-1",
            "OPENAI_BASE_URL": "http://scripted.invalid/v1",
            "PATH": os.defpath,
        }

    def offer_unstable(self) -> None:
        """Enable the unstable half of the protocol, and check the agent against its schema."""
        self.variables["HERMES_ACP_UNSTABLE"] = "1"
        self.schema = "v1.unstable"

    def write(self, name: str, content: str) -> Path:
        """Write a file in the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    def configure(self, content: str) -> None:
        """Write the settings file."""
        self.home.mkdir(exist_ok=True)
        (self.home / "config.yaml").write_text(content, encoding="utf-8")

    def record_of(self, session_id: str) -> Path:
        """Return the path of a session's record."""
        return self.home / "sessions" / f"{session_id}.jsonl"

    def open_app(self, observers: tuple[SessionObserver, ...] = ()) -> App:
        def connect(settings: Settings, choice: ModelChoice) -> Connection:
            self.connected.append((settings, choice))
            provider = self.others.get(choice.provider, self.provider)
            provider.call_names = self.provider.call_names
            return provider

        return App(
            environment_of(self.variables),
            clock=self.clock,
            ids=self.ids,
            overrides=self.overrides,
            connect=None if self.is_connected_for_real else connect,
            observers=observers,
        )

    @asynccontextmanager
    async def strange_editor(self) -> AsyncGenerator[FakeEditor]:
        """Start an app and an editor that has sent nothing yet; the rules are checked at the end."""
        near, far = memory_pair()
        editor = FakeEditor(far, self.schema)
        with anyio.fail_after(2 * WAIT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve, near, self.open_app(), ClientConnection())
                tasks.start_soon(editor.connection.run)
                try:
                    yield editor
                finally:
                    with anyio.CancelScope(shield=True):
                        await editor.connection.aclose()
        assert editor.laws.faults == [], editor.laws.faults
        log = self.home / "logs" / "bugs.log"
        assert not log.exists(), log.read_text(encoding="utf-8")

    @asynccontextmanager
    async def editor(self, **capabilities: Any) -> AsyncGenerator[FakeEditor]:
        """Start an app and an editor that has initialized the connection."""
        async with self.strange_editor() as editor:
            await editor.initialize(**capabilities)
            yield editor


def plain_history(request: ModelRequest) -> list[str]:
    """Return a request's messages, each as one line: the role and the text."""
    lines: list[str] = []
    for message in request.messages:
        match message:
            case UserMessage():
                lines.append("user: " + "".join(p.text for p in message.parts if isinstance(p, TextPart)))
            case AssistantMessage():
                lines.append(
                    "assistant: " + message.text + "".join(f"<{call.name}>" for call in message.tool_calls)
                )
            case ToolMessage():
                lines.append(f"{message.name}: {message.text}")
    return lines
