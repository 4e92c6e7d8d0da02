"""Slack's published API: the Web API, and Socket Mode, which redelivers what is not acknowledged."""

from __future__ import annotations

import html
import re
from itertools import count
from typing import Any

import anyio
import msgspec
from aiohttp import WSMsgType, web

from hermes_acp.config.sections.gateway_settings import SlackSettings
from tests.contract.platform_suite import file_mark
from tests.gateway.scripted_server import PEOPLE, SHOWN_NAMES, Place, Post, ScriptedWorld

TEAM = "T0001"
BOT_USER = "U0BOT"
MAX_UPDATE = 4_000
STYLES = re.compile(r"(?<![\w`])[*_~](?=\S)|(?<=\S)[*_~](?![\w`])")


class SlackWorld(ScriptedWorld):
    """A workspace with an app, people, and a channel."""

    platform = "slack"
    room = "C0ROOM"

    def __init__(self) -> None:
        super().__init__()
        self.unacknowledged: dict[str, dict[str, Any]] = {}
        self.acknowledged: list[str] = []
        self.files: dict[str, bytes] = {}
        self.breaks = False
        self.connections = 0
        self.socket: web.WebSocketResponse | None = None
        self._opened = anyio.Event()
        self._numbers = count(1)
        self._names: dict[str, str] = {}
        self._uploaded: dict[str, str] = {}

    @property
    def secrets(self) -> dict[str, str]:
        return {"token": "xoxb-secret-token-of-the-test", "app_token": "xapp-secret-token-of-the-test"}

    def opened(self) -> None:
        self.settings = SlackSettings(api=f"{self.url}/api")

    def forget(self) -> None:
        super().forget()
        self.unacknowledged.clear()

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/{method}", self._call),
            web.get("/link", self._link),
            web.post("/upload/{name}", self._upload),
            web.get("/files/{name}", self._file),
        ]

    def id_of(self, name: str) -> str:
        return f"{TEAM}:U{PEOPLE[name]}"

    def direct_place(self, name: str) -> Place:
        return Place(f"D{PEOPLE[name]}")

    async def deliver(self, name: str, place: Place, text: str, **more: Any) -> None:
        names_agent = more.pop("names_agent", False)
        message = {
            "type": "message",
            "channel": place.room,
            "channel_type": "im" if place.room.startswith("D") else "channel",
            "user": f"U{PEOPLE[name]}",
            "team": TEAM,
            "ts": self.stamp(),
            "text": f"<@{BOT_USER}> {text}" if names_agent else text,
            **({"thread_ts": place.thread} if place.thread else {}),
            **more,
        }
        event_id = f"Ev{next(self._numbers)}"
        payload = {"type": "event_callback", "team_id": TEAM, "event_id": event_id, "event": message}
        await self.put("events_api", payload)

    async def press(self, name: str, post: Post, label: str, data: str = "") -> None:
        thread = {"thread_ts": post.place.thread} if post.place.thread else {}
        action = {"type": "button", "action_ts": self.stamp(), "value": data or post.sent_buttons[label]}
        payload = {
            "type": "block_actions",
            "user": {"id": f"U{PEOPLE[name]}", "username": SHOWN_NAMES.get(name, name), "team_id": TEAM},
            "team": {"id": TEAM, "domain": "test"},
            "channel": {"id": post.place.room, "name": "room"},
            "message": {"type": "message", "ts": post.id, **thread},
            "actions": [action],
        }
        await self.put("interactive", payload)

    async def joined(self) -> None:
        await self._opened.wait()

    async def repeat(self) -> None:
        """Deliver the last event again, in another envelope."""
        await self.put(self._last["type"], self._last["payload"])

    async def put(self, kind: str, payload: dict[str, Any]) -> None:
        """Deliver an envelope, now or on the next connection."""
        envelope_id = f"envelope-{next(self._numbers)}"
        self._last: dict[str, Any] = {"type": kind, "payload": payload}
        self.unacknowledged[envelope_id] = {**self._last, "envelope_id": envelope_id}
        if self.socket is not None:
            await self.socket.send_str(msgspec.json.encode(self.unacknowledged[envelope_id]).decode())

    async def ask_to_reconnect(self) -> None:
        """Ask for a new WebSocket, as Slack does every few hours."""
        assert self.socket is not None
        await self.socket.send_json({"type": "disconnect", "reason": "refresh_requested"})

    def stamp(self) -> str:
        """Return a new message timestamp."""
        return f"1700000000.{next(self._numbers):06}"

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1})
        self.socket = socket
        self.connections += 1
        self._opened.set()
        for envelope in [*self.unacknowledged.values()]:
            await socket.send_json({**envelope, "retry_attempt": 1, "retry_reason": "timeout"})
        try:
            async for frame in socket:
                if frame.type == WSMsgType.TEXT:
                    envelope_id = msgspec.json.decode(frame.data)["envelope_id"]
                    self.unacknowledged.pop(envelope_id, None)
                    self.acknowledged.append(envelope_id)
        finally:
            if self.socket is socket:
                self.socket, self._opened = None, anyio.Event()
        return socket

    async def _call(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        is_json = request.content_type == "application/json"
        asked = (
            await request.json()
            if is_json
            else {key: _read(str(value)) for key, value in (await request.post()).items()}
        )
        asked = {**request.query, **asked}
        self.requests.append((method, asked))
        if token != self.secrets["app_token" if method == "apps.connections.open" else "token"]:
            return _refusal("invalid_auth")
        match method:
            case "auth.test":
                return _answer({"user_id": BOT_USER, "team_id": TEAM, "bot_id": "B1", "user": "agent"})
            case "apps.connections.open":
                return _answer({"url": f"{self.url.replace('http', 'ws', 1)}/link?ticket=1"})
            case "chat.postMessage":
                return await self._post(asked)
            case "chat.update":
                return self._update(asked)
            case "files.getUploadURLExternal":
                name = f"F{self.stamp()}"
                self._names[name] = str(asked["filename"])
                return _answer({"file_id": name, "upload_url": f"{self.url}/upload/{name}"})
            case "files.completeUploadExternal":
                return self._share(asked)
            case _:
                return _refusal("unknown_method")

    async def _upload(self, request: web.Request) -> web.Response:
        assert "Authorization" not in request.headers, "the address alone grants access"
        name = request.match_info["name"]
        self._uploaded[name] = file_mark(self._names[name], await request.read())
        return web.Response(text="OK")

    def _share(self, asked: dict[str, Any]) -> web.Response:
        raw: object = asked["files"]
        kind = list[dict[str, str]]
        files = msgspec.json.decode(raw, type=kind) if isinstance(raw, str) else msgspec.convert(raw, kind)
        for each in files:
            place = Place(str(asked["channel_id"]), str(asked.get("thread_ts", "")))
            self.screen.post(Post(self.stamp(), place, [self._uploaded[each["id"]]], {}, asked))
        return _answer({"files": files})

    async def _post(self, asked: dict[str, Any]) -> web.Response:
        if self.faults.refuses():
            return _haste()
        if self.breaks:
            return web.Response(status=503, text="<html>upstream</html>", content_type="text/html")
        place = Place(asked["channel"], asked.get("thread_ts", ""))
        post = self.screen.post(Post(self.stamp(), place, [_visible(asked["text"])], _buttons(asked), asked))
        await self.faults.hold()
        return _answer({"channel": place.room, "ts": post.id})

    def _update(self, asked: dict[str, Any]) -> web.Response:
        if self.faults.refuses():
            return _haste()
        post = self.screen.find(asked["ts"], asked["channel"])
        if post is None:
            return _refusal("message_not_found")
        if len(asked["text"]) > MAX_UPDATE:
            return _refusal("msg_too_long")
        buttons = _buttons(asked) if "blocks" in asked else post.buttons
        self.screen.change(post, _visible(asked["text"]), buttons)
        return _answer({"channel": asked["channel"], "ts": asked["ts"]})

    async def _file(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {self.secrets['token']}":
            raise web.HTTPFound("/login")
        return web.Response(body=self.files[request.match_info["name"]])


def _answer(content: dict[str, Any]) -> web.Response:
    return web.json_response({"ok": True, **content})


def _refusal(code: str) -> web.Response:
    return web.json_response({"ok": False, "error": code})


def _haste() -> web.Response:
    return web.json_response(
        {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": "0.05"}
    )


def _visible(text: str) -> str:
    """Return what people see; a text that mentions somebody is an error in the test."""
    assert "<!" not in text
    assert "<@" not in text
    return html.unescape(STYLES.sub("", re.sub(r"<([^|>]+)\|([^>]+)>", r"\2", text)))


def _buttons(asked: dict[str, Any]) -> dict[str, str]:
    blocks: list[dict[str, Any]] = asked.get("blocks") or []
    assert all(0 < len(block["text"]["text"]) <= 3_000 for block in blocks if block["type"] == "section")
    elements: list[dict[str, Any]] = [
        each for block in blocks if block["type"] == "actions" for each in block["elements"]
    ]
    assert len({each["action_id"] for each in elements}) == len(elements)
    assert all(len(each["text"]["text"]) <= 75 for each in elements)
    return {each["text"]["text"]: each["value"] for each in elements}


def _read(value: str) -> Any:
    try:
        return msgspec.json.decode(value) if value[:1] in "[{" else value
    except msgspec.DecodeError:
        return value
