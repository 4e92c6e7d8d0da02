"""Discord's published API: HTTP with nonces and rate limits, and the gateway with its sessions."""

from __future__ import annotations

from itertools import count
from typing import Any

import anyio
import msgspec
from aiohttp import WSMsgType, web

from hermes_acp.config.sections.gateway_settings import DiscordSettings
from tests.contract.platform_suite import file_mark
from tests.gateway.scripted_server import PEOPLE, SHOWN_NAMES, Place, Post, ScriptedWorld

GUILD = "700"
DIRECT = 5_000
"""The ID of a user's direct-message channel is the user's ID plus this number."""
MAX_CHARACTERS = 2_000
INTENTS = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15)
TIME = "2026-01-01T00:00:00.000000+00:00"
BOT_ID = 99


class DiscordWorld(ScriptedWorld):
    """A server with a bot, people, a channel and a thread in it."""

    platform = "discord"
    room = "800"
    thread = "801"
    deduplicates = True

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, list[dict[str, Any]]] = {}
        self.files: dict[str, bytes] = {}
        self.socket: web.WebSocketResponse | None = None
        self.identified: list[dict[str, Any]] = []
        self.close_with = 0
        self.accepts = self.secrets["token"]
        self._ready = anyio.Event()
        self._ids = count(10_000)
        self._sequence = count(1)

    def opened(self) -> None:
        self.settings = DiscordSettings(
            api=f"{self.url}/api", gateway=f"{self.url.replace('http', 'ws', 1)}/gateway"
        )

    def forget(self) -> None:
        super().forget()
        self.said.clear()

    def routes(self) -> list[web.RouteDef]:
        base = "/api/v10"
        return [
            web.get("/gateway", self._gateway),
            web.get("/gateway/", self._gateway),
            web.get(f"{base}/users/@me", self._me),
            web.get(f"{base}/oauth2/applications/@me", self._application),
            web.get(f"{base}/channels/{{channel}}", self._channel),
            web.get(f"{base}/channels/{{channel}}/messages", self._history),
            web.post(f"{base}/channels/{{channel}}/messages", self._post),
            web.patch(f"{base}/channels/{{channel}}/messages/{{message}}", self._edit),
            web.post(f"{base}/interactions/{{interaction}}/{{token}}/callback", self._interaction),
            web.get("/files/{name}", self._file),
        ]

    def direct_place(self, name: str) -> Place:
        return Place(str(DIRECT + PEOPLE[name]))

    async def deliver(self, name: str, place: Place, text: str, **more: Any) -> None:
        names_agent, is_missed = more.pop("names_agent", False), more.pop("is_missed", False)
        said = f"<@{BOT_ID}> {text}" if names_agent else text
        mentions = [_user("agent", BOT_ID, bot=True)] if names_agent else []
        author = more.pop("author", _user(name, PEOPLE[name]))
        message = self.message(place, author, said, **{"mentions": mentions, **more})
        self.said.setdefault(message["channel_id"], []).append(message)
        if not is_missed:
            await self.dispatch("MESSAGE_CREATE", message)

    async def press(self, name: str, post: Post, label: str, data: str = "") -> None:
        user = _user(name, PEOPLE[name])
        shown = self.message(post.place, _user("agent", BOT_ID, bot=True), post.texts[-1], id=post.id)
        is_direct = "guild_id" not in shown
        number = str(next(self._ids))
        pressed: dict[str, Any] = {
            "id": number,
            "application_id": str(BOT_ID),
            "type": 3,
            "token": f"token-{number}",
            "version": 1,
            "attachment_size_limit": 10_000_000,
            "channel_id": shown["channel_id"],
            "channel": {
                "id": shown["channel_id"],
                "type": 1 if is_direct else 0,
                **({"recipients": [user]} if is_direct else {}),
            },
            "data": {"custom_id": data or post.sent_buttons[label], "component_type": 2},
            "message": shown,
            "locale": "en-US",
            "entitlements": [],
        }
        if is_direct:
            pressed["user"] = user
        else:
            pressed["guild_id"] = GUILD
            pressed["member"] = {**_member(), "user": user, "permissions": "0"}
        await self.dispatch("INTERACTION_CREATE", pressed)

    async def joined(self) -> None:
        await self._ready.wait()

    async def repeat(self) -> None:
        await self.dispatch(*self._last)

    async def dispatch(self, kind: str, content: dict[str, Any]) -> None:
        """Send an event to the connected clients."""
        self._last = (kind, content)
        if self.socket is not None:
            await self.socket.send_json({"op": 0, "t": kind, "s": next(self._sequence), "d": content})

    async def drop(self) -> None:
        """End the session, so that a new one starts."""
        assert self.socket is not None
        await self.socket.send_json({"op": 9, "d": False})

    def message(self, place: Place, author: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
        """Return a message as Discord shows it."""
        is_direct = int(place.room) > DIRECT
        return {
            "id": str(next(self._ids)),
            "channel_id": place.thread or place.room,
            "author": author,
            "content": text,
            "timestamp": TIME,
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
            "components": [],
            **({} if is_direct else {"guild_id": GUILD, "member": _member()}),
            **more,
        }

    async def _gateway(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"op": 10, "d": {"heartbeat_interval": 41_250}})
        try:
            async for frame in socket:
                if frame.type != WSMsgType.TEXT:
                    continue
                asked = msgspec.json.decode(frame.data)
                if asked["op"] == 1:
                    await socket.send_json({"op": 11})
                elif asked["op"] == 2:
                    self.identified.append(asked["d"])
                    if self.close_with:
                        await socket.close(code=self.close_with)
                        break
                    await self._begin_session(socket)
                elif asked["op"] == 6:
                    await socket.send_json({"op": 9, "d": False})
        finally:
            if self.socket is socket:
                self.socket, self._ready = None, anyio.Event()
        return socket

    async def _begin_session(self, socket: web.WebSocketResponse) -> None:
        assert self.identified[-1]["intents"] == INTENTS
        ready = {
            "v": 10,
            "user": _user("agent", BOT_ID, bot=True),
            "guilds": [{"id": GUILD, "unavailable": True}],
            "session_id": "session",
            "resume_gateway_url": self.settings.gateway,
            "application": {"id": str(BOT_ID), "flags": 0},
        }
        thread_data = {
            **_channel(self.thread, 11),
            "parent_id": self.room,
            "owner_id": str(PEOPLE["anna"]),
            "message_count": 1,
            "member_count": 1,
            "thread_metadata": {
                "archived": False,
                "auto_archive_duration": 60,
                "archive_timestamp": TIME,
                "locked": False,
            },
        }
        guild = {
            "id": GUILD,
            "name": "Guild",
            "owner_id": str(PEOPLE["anna"]),
            "member_count": 6,
            "roles": [
                {
                    "id": GUILD,
                    "name": "@everyone",
                    "permissions": "0",
                    "position": 0,
                    "color": 0,
                    "hoist": False,
                    "managed": False,
                    "mentionable": False,
                    "flags": 0,
                    "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
                }
            ],
            "channels": [_channel(self.room, 0)],
            "threads": [thread_data],
            "members": [],
            "emojis": [],
            "features": [],
            "stickers": [],
            "voice_states": [],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
        }
        await socket.send_json({"op": 0, "t": "READY", "s": next(self._sequence), "d": ready})
        await socket.send_json({"op": 0, "t": "GUILD_CREATE", "s": next(self._sequence), "d": guild})
        self.socket = socket
        self._ready.set()

    async def _me(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bot {self.accepts}":
            return _json({"message": "401: Unauthorized", "code": 0}, status=401)
        return _json(_user("agent", BOT_ID, bot=True))

    async def _application(self, request: web.Request) -> web.Response:
        owner = _user("anna", PEOPLE["anna"])
        content = {"id": str(BOT_ID), "name": "agent", "description": "", "icon": None, "bot_public": False}
        return _json({**content, "bot_require_code_grant": False, "verify_key": "k", "owner": owner})

    async def _channel(self, request: web.Request) -> web.Response:
        return _json(_channel(request.match_info["channel"], 0))

    async def _history(self, request: web.Request) -> web.Response:
        after = int(request.query.get("after", 0))
        channel = request.match_info["channel"]
        if channel == "404":
            return _json({"message": "Unknown Channel", "code": 10003}, status=404)
        found = [each for each in self.said.get(channel, []) if int(each["id"]) > after]
        return _json(found[: int(request.query["limit"])][::-1])

    async def _post(self, request: web.Request) -> web.Response:
        mark = ""
        if request.content_type == "multipart/form-data":
            form = await request.post()
            asked, file = msgspec.json.decode(str(form["payload_json"])), form["files[0]"]
            assert isinstance(file, web.FileField)
            mark = file_mark(file.filename, file.file.read())
        else:
            asked = await request.json()
        self.requests.append(("post", asked))
        if self.faults.refuses():
            return _haste()
        place = self._place_of(request.match_info["channel"])
        known = next((each for each in self.screen.posts if each.request["nonce"] == asked["nonce"]), None)
        if known is not None and asked["enforce_nonce"]:
            known.sends += 1
            return _json(self._shown(known))
        text = asked.get("content") or mark
        if not 0 < len(text) <= MAX_CHARACTERS:
            return _json({"message": "Invalid Form Body", "code": 50035}, status=400)
        assert asked["allowed_mentions"] == {"parse": []}
        post = Post(str(next(self._ids)), place, [text], _buttons(asked), asked)
        self.screen.post(post)
        await self.faults.hold()
        return _json(self._shown(post))

    async def _edit(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.requests.append(("edit", asked))
        if self.faults.refuses():
            return _haste()
        place = self._place_of(request.match_info["channel"])
        post = self.screen.find(request.match_info["message"], place.room)
        if post is None:
            return _json({"message": "Unknown Message", "code": 10008}, status=404)
        buttons = _buttons(asked) if "components" in asked else post.buttons
        self.screen.change(post, asked["content"], buttons)
        return _json(self._shown(post))

    def _shown(self, post: Post) -> dict[str, Any]:
        return self.message(post.place, _user("agent", BOT_ID, bot=True), post.texts[-1], id=post.id)

    def _place_of(self, channel: str) -> Place:
        return Place(self.room, channel) if channel == self.thread else Place(channel)

    async def _interaction(self, request: web.Request) -> web.Response:
        self.requests.append(("interaction", await request.json()))
        return _json({"interaction": {"id": request.match_info["interaction"], "type": 3}})

    async def _file(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["name"]])


def _user(name: str, number: int, *, bot: bool = False) -> dict[str, Any]:
    shown = SHOWN_NAMES.get(name, name)
    return {
        "id": str(number),
        "username": shown,
        "global_name": shown,
        "discriminator": "0",
        "avatar": None,
        "bot": bot,
    }


def _member() -> dict[str, Any]:
    return {"roles": [], "joined_at": TIME, "deaf": False, "mute": False, "flags": 0, "nick": "anna"}


def _channel(channel: str, kind: int) -> dict[str, Any]:
    return {
        "id": channel,
        "type": kind,
        "guild_id": GUILD,
        "name": "room",
        "position": 0,
        "permission_overwrites": [],
        "parent_id": None,
    }


def _buttons(asked: dict[str, Any]) -> dict[str, str]:
    rows: list[dict[str, Any]] = asked.get("components") or []
    buttons: list[dict[str, Any]] = [each for row in rows for each in row["components"]]
    assert all(len(each["custom_id"]) <= 100 and len(each["label"]) <= 80 for each in buttons)
    return {each["label"]: each["custom_id"] for each in buttons}


def _json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """Return JSON with exactly the content type that discord.py expects."""
    body = msgspec.json.encode(content)
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


def _haste() -> web.Response:
    content = {"message": "You are being rate limited.", "retry_after": 0.05, "global": False}
    return _json(content, status=429, headers={"Via": "1.1 google", "Retry-After": "0.05"})
