"""Mattermost's published API: REST that recognises repeated posts, and the WebSocket."""

from __future__ import annotations

from itertools import count
from typing import Any

import anyio
import msgspec
from aiohttp import WSMsgType, web

from hermes_acp.config.sections.gateway_settings import MattermostSettings
from tests.contract.platform_suite import file_mark
from tests.gateway.scripted_server import PEOPLE, SHOWN_NAMES, Place, Post, ScriptedWorld

BOT_USER = "bot1"
NAME = "agent"
START_MS = 1_700_000_000_000


class MattermostWorld(ScriptedWorld):
    """A server with a bot, people, and a channel."""

    platform = "mattermost"
    room = "channel1"
    deduplicates = True

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, list[dict[str, Any]]] = {}
        self.files: dict[str, bytes] = {}
        self.accepts = self.secrets["token"]
        self.socket: web.WebSocketResponse | None = None
        self._joined = anyio.Event()
        self._numbers = count(1)
        self._uploaded: dict[str, str] = {}

    def opened(self) -> None:
        self.settings = MattermostSettings(server=self.url)

    def forget(self) -> None:
        super().forget()
        self.said.clear()

    def routes(self) -> list[web.RouteDef]:
        base = "/api/v4"
        return [
            web.get(f"{base}/websocket", self._websocket),
            web.get(f"{base}/users/me", self._me),
            web.get(f"{base}/channels/{{channel}}/posts", self._history),
            web.post(f"{base}/posts", self._post),
            web.post(f"{base}/files", self._upload),
            web.put(f"{base}/posts/{{post}}/patch", self._patch),
            web.get(f"{base}/files/{{file}}", self._file),
        ]

    def id_of(self, name: str) -> str:
        return f"user{PEOPLE[name]}"

    def direct_place(self, name: str) -> Place:
        return Place(f"direct{PEOPLE[name]}")

    async def deliver(self, name: str, place: Place, text: str, **more: Any) -> None:
        names_agent, is_missed = more.pop("names_agent", False), more.pop("is_missed", False)
        mentions = more.pop("mentions", [])
        number = next(self._numbers)
        post: dict[str, Any] = {
            "id": f"post{number}",
            "create_at": START_MS + number,
            "update_at": START_MS + number,
            "delete_at": 0,
            "user_id": self.id_of(name),
            "channel_id": place.room,
            "root_id": place.thread,
            "message": f"@{NAME} {text}" if names_agent else text,
            "type": "",
            "props": {},
            "metadata": {},
            **more,
        }
        self.said.setdefault(place.room, []).append(post)
        data = {
            "channel_type": "D" if place.room.startswith("direct") else "O",
            "sender_name": f"@{SHOWN_NAMES.get(name, name)}",
            "post": msgspec.json.encode(post).decode(),
            **({"mentions": msgspec.json.encode(mentions).decode()} if mentions else {}),
        }
        self._last = data
        if not is_missed:
            await self.send("posted", data)

    async def joined(self) -> None:
        await self._joined.wait()

    async def repeat(self) -> None:
        await self.send("posted", self._last)

    async def send(self, event: str, data: dict[str, Any]) -> None:
        """Send an event to the connected clients."""
        if self.socket is not None:
            await self.socket.send_json(
                {"event": event, "data": data, "broadcast": {}, "seq": next(self._numbers)}
            )

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        try:
            async for frame in socket:
                if frame.type != WSMsgType.TEXT:
                    continue
                asked = msgspec.json.decode(frame.data)
                assert asked["action"] == "authentication_challenge"
                if asked["data"]["token"] != self.accepts:
                    await socket.send_json(
                        {"status": "FAIL", "seq_reply": asked["seq"], "error": {"id": "api.x"}}
                    )
                    continue
                await socket.send_json(
                    {"event": "hello", "data": {"server_version": "10"}, "broadcast": {}, "seq": 0}
                )
                await socket.send_json({"status": "OK", "seq_reply": asked["seq"]})
                self.socket = socket
                self._joined.set()
        finally:
            if self.socket is socket:
                self.socket, self._joined = None, anyio.Event()
        return socket

    async def _me(self, request: web.Request) -> web.Response:
        return web.json_response({"id": BOT_USER, "username": NAME, "is_bot": True})

    async def _history(self, request: web.Request) -> web.Response:
        since, channel = int(request.query["since"]), request.match_info["channel"]
        if channel == "gone":
            return web.json_response({"id": "store.sql_channel.get", "status_code": 403}, status=403)
        found = [each for each in self.said.get(channel, []) if each["update_at"] >= since]
        return web.json_response(
            {"order": [each["id"] for each in found][::-1], "posts": {each["id"]: each for each in found}}
        )

    async def _post(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.requests.append(("post", asked))
        if self.faults.refuses():
            return _haste()
        pending = asked["pending_post_id"]
        known = next((each for each in self.screen.posts if each.request["pending_post_id"] == pending), None)
        if known is not None:
            known.sends += 1
            return web.json_response({"id": known.id, "message": known.texts[-1]}, status=201)
        place = Place(asked["channel_id"], asked.get("root_id", ""))
        files = [self._uploaded[each] for each in asked.get("file_ids", ())]
        assert bool(asked["message"]) != bool(files)
        text = asked["message"] or files[0]
        post = self.screen.post(Post(f"post{next(self._numbers)}", place, [text], {}, asked))
        await self.faults.hold()
        return web.json_response({"id": post.id, "message": post.texts[-1]}, status=201)

    async def _upload(self, request: web.Request) -> web.Response:
        assert request.query["channel_id"].startswith(("direct", "channel"))
        number = f"file{next(self._numbers)}"
        self._uploaded[number] = file_mark(request.query["filename"], await request.read())
        return web.json_response({"file_infos": [{"id": number}], "client_ids": []}, status=201)

    async def _patch(self, request: web.Request) -> web.Response:
        asked = await request.json()
        if self.faults.refuses():
            return _haste()
        found = [each for each in self.screen.posts if each.id == request.match_info["post"]]
        if not found:
            return web.json_response({"id": "app.post.get.app_error", "status_code": 404}, status=404)
        self.screen.change(found[0], asked["message"], {})
        return web.json_response({"id": found[0].id, "message": asked["message"]})

    async def _file(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {self.accepts}":
            return web.json_response({"id": "api.context.session_expired.app_error"}, status=401)
        return web.Response(body=self.files[request.match_info["file"]])


def _haste() -> web.Response:
    return web.Response(status=429, text="limit exceeded", headers={"Retry-After": "0.05"})
