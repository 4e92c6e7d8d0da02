"""An editor that speaks the draft of version 2, and the session state that it finally shows."""

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor
from tests.conversations.wire_laws import Json

HELLO: Json = {"protocolVersion": 2, "info": {"name": "drafter", "version": "1"}, "capabilities": {}}
ASK = "session/request_permission"


class Shown:
    """A session as an editor of version 2 finally shows it, update by update."""

    def __init__(self, editor: FakeEditor, session: str) -> None:
        self.updates = [update for name, update in editor.updates if name == session]
        self.words: dict[tuple[str, str], str] = {}
        self.cards: dict[str, Json] = {}
        self.terminals: dict[str, Json] = {}
        for update in self.updates:
            self._take(update["sessionUpdate"], update)

    def _take(self, kind: str, update: Json) -> None:
        if kind in ("user_message", "agent_message", "agent_thought"):
            blocks: list[Json] = update["content"] or []
            self.words[kind, update["messageId"]] = "".join(block["text"] for block in blocks)
        elif kind in ("agent_message_chunk", "agent_thought_chunk"):
            key = kind.removesuffix("_chunk"), update["messageId"]
            self.words[key] = self.words.get(key, "") + update["content"]["text"]
        elif kind == "tool_call_update":
            self.cards.setdefault(update["toolCallId"], {}).update(update)
        elif kind == "tool_call_content_chunk":
            card = self.cards[update["toolCallId"]]
            card["content"] = [*card.get("content", []), update["content"]]
        elif kind == "terminal_update":
            terminal = self.terminals.setdefault(update["terminalId"], {"text": ""})
            terminal.update(update)
            if "output" in update:
                terminal["text"] = base64.b64decode(update["output"]["data"]).decode()
        elif kind == "terminal_output_chunk":
            self.terminals[update["terminalId"]]["text"] += base64.b64decode(update["data"]).decode()

    def of(self, kind: str) -> list[Json]:
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    def said(self, kind: str) -> list[str]:
        return [text for (who, _), text in self.words.items() if who == kind and text]

    @property
    def states(self) -> list[str]:
        return [update["state"] for update in self.of("state_update")]

    def statuses(self, card: str) -> list[str]:
        mine = [update for update in self.of("tool_call_update") if update["toolCallId"] == card]
        return [update["status"] for update in mine if "status" in update]


@asynccontextmanager
async def drafter(scene: Scene, **capabilities: object) -> AsyncGenerator[FakeEditor]:
    """Start an app and an editor of version 2 that has initialized the connection."""
    before, scene.schema = scene.schema, "v2"
    try:
        async with scene.strange_editor() as editor:
            editor.laws.capabilities = dict(capabilities)
            await editor.call("initialize", {**HELLO, "capabilities": capabilities})
            yield editor
    finally:
        scene.schema = before


async def new_session(scene: Scene, editor: FakeEditor) -> str:
    return (await editor.call("session/new", {"cwd": str(scene.project)}))["sessionId"]


def saying(session: str, text: str = "go") -> Json:
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


def idles(editor: FakeEditor, session: str) -> list[Json]:
    return [update for update in Shown(editor, session).of("state_update") if update["state"] == "idle"]


async def turn(editor: FakeEditor, session: str, text: str = "go") -> Json:
    """Prompt, wait for the end of the turn, and return its state."""
    before = len(idles(editor, session))
    await editor.call("session/prompt", saying(session, text))
    await editor.until(lambda: len(idles(editor, session)) > before)
    return idles(editor, session)[-1]


def resuming(scene: Scene, session: str, **more: object) -> Json:
    return {"sessionId": session, "cwd": str(scene.project), **more}
