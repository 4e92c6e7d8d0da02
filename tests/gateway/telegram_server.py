"""Telegram's published Bot API: long polling, messages with a checked subset of HTML, buttons, files."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import count
from typing import Any

import anyio
import msgspec
from aiohttp import web

from hermes_acp.config.sections.gateway_settings import TelegramSettings
from tests.contract.platform_suite import file_mark
from tests.gateway.scripted_server import BOT, PEOPLE, SHOWN_NAMES, Place, Post, ScriptedWorld

TAGS = frozenset({"b", "i", "s", "code", "pre", "a"})
MAX_UNITS = 4_096
NAME = "agent_bot"


class Refused(Exception):
    """An error response from the API."""

    def __init__(self, status: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters


class _Visible(HTMLParser):
    """The text of a message, without its styles."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            raise Refused(400, f'Bad Request: can\'t parse entities: unsupported start tag "{tag}"')
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise Refused(400, f'Bad Request: can\'t parse entities: unexpected end tag "{tag}"')

    def handle_data(self, data: str) -> None:
        self.text += data


def visible(html: str) -> str:
    """Return what people see of a text with styles. Raises Refused if it is malformed."""
    parser = _Visible()
    parser.feed(html)
    parser.close()
    if parser.open:
        raise Refused(400, "Bad Request: can't parse entities: can't find end tag")
    return parser.text


class TelegramWorld(ScriptedWorld):
    """A server with a bot, people, and a group."""

    platform = "telegram"
    room = "-100500"

    def __init__(self) -> None:
        super().__init__()
        self.updates: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.moved: dict[str, str] = {}
        self.cannot_parse = False
        self.is_token_valid = True
        self.polls = anyio.Event()
        """Set when the gateway has asked for updates after finding its position."""
        self._news = anyio.Event()
        self._update_ids = count(700)
        self._message_ids = count(1)

    def forget(self) -> None:
        super().forget()
        self.polls = anyio.Event()

    def opened(self) -> None:
        self.settings = TelegramSettings(api=self.url)

    def routes(self) -> list[web.RouteDef]:
        token = self.secrets["token"]
        return [
            web.post(f"/bot{token}/{{method}}", self._call),
            web.get(f"/file/bot{token}/{{name}}", self._file),
            web.post("/bot{token}/{method}", self._unauthorized),
        ]

    async def deliver(self, name: str, place: Place, text: str, **more: Any) -> None:
        names_agent = more.pop("names_agent", False)
        said = f"@{NAME} {text}" if names_agent else text or None
        entities = [{"type": "mention", "offset": 0, "length": len(NAME) + 1}] if names_agent else []
        message = {
            "message_id": next(self._message_ids),
            "from": _user(name),
            "chat": self._chat(place),
            "date": 1_700_000_000,
            "text": said,
            "entities": entities,
            **_thread(place),
            **more,
        }
        self.put("message", {key: value for key, value in message.items() if value is not None})

    async def press(self, name: str, post: Post, label: str, data: str = "") -> None:
        shown = {
            "message_id": int(post.id),
            "chat": self._chat(post.place),
            "date": 1_700_000_000,
            "from": {"id": BOT, "is_bot": True, "first_name": "Agent"},
            **_thread(post.place),
        }
        identity = str(next(self._update_ids))
        pressed = {
            "id": f"press-{identity}",
            "from": _user(name),
            "message": shown,
            "chat_instance": "1",
            "data": data or post.sent_buttons[label],
        }
        self.put("callback_query", pressed)

    async def joined(self) -> None:
        await self.polls.wait()

    async def repeat(self) -> None:
        kind = next(key for key in self._last if key != "update_id")
        self.put(kind, dict(self._last[kind]))

    def put(self, kind: str, content: dict[str, Any]) -> None:
        """Add an update."""
        self._last: dict[str, Any] = {"update_id": next(self._update_ids), kind: content}
        self.updates.append(self._last)
        self._news.set()
        self._news = anyio.Event()

    def _chat(self, place: Place) -> dict[str, Any]:
        if place.room.startswith("-"):
            return {"id": int(place.room), "type": "supergroup", "title": "Room"}
        return {"id": int(place.room), "type": "private", "first_name": "anna"}

    async def _unauthorized(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": False, "error_code": 401, "description": "Unauthorized"}, status=401)

    async def _call(self, request: web.Request) -> web.Response:
        if not self.is_token_valid:
            return await self._unauthorized(request)
        method = request.match_info["method"]
        raw: dict[str, str] = {}
        for key, value in (await request.post()).items():
            is_file = isinstance(value, web.FileField)
            raw[key] = file_mark(value.filename, value.file.read()) if is_file else str(value)
        asked = {
            key: _read(value) if key not in ("text", "callback_query_id") else value
            for key, value in raw.items()
        }
        self.requests.append((method.lower(), asked))
        try:
            result = await self._answer(method.lower(), asked)
        except Refused as refused:
            answer: dict[str, Any] = {
                "ok": False,
                "error_code": refused.status,
                "description": refused.description,
            }
            if refused.parameters:
                answer["parameters"] = refused.parameters
            return web.json_response(answer, status=refused.status)
        return web.json_response({"ok": True, "result": result})

    async def _answer(self, method: str, asked: dict[str, Any]) -> Any:
        match method:
            case "getme":
                return {"id": BOT, "is_bot": True, "first_name": "Agent", "username": NAME}
            case "getupdates":
                return await self._updates(asked.get("offset", 0), asked.get("timeout", 0))
            case "sendmessage":
                return await self._send(asked)
            case "senddocument" | "sendphoto":
                (mark,) = (str(value) for value in asked.values() if str(value).startswith("["))
                return await self._send({**asked, "text": mark})
            case "editmessagetext":
                return self._edit(asked)
            case "answercallbackquery":
                return True
            case "getfile":
                content = self.files[asked["file_id"]]
                name = asked["file_id"]
                return {"file_id": name, "file_unique_id": name, "file_size": len(content), "file_path": name}
            case _:
                raise Refused(404, "Not Found")

    async def _updates(self, offset: int, timeout: float) -> list[dict[str, Any]]:
        """Return the updates from an offset on; earlier ones are confirmed."""
        if offset < 0:
            self.updates = self.updates[offset:]
        else:
            self.updates = [each for each in self.updates if each["update_id"] >= offset]
            self.polls.set()
        with anyio.move_on_after(timeout):
            while not self.updates:
                await self._news.wait()
        return self.updates[:100]

    async def _send(self, asked: dict[str, Any]) -> dict[str, Any]:
        room = str(asked["chat_id"])
        self._check(room)
        place = Place(room, str(asked.get("message_thread_id", "")))
        post = Post(str(next(self._message_ids)), place, [self._visible(asked)], _buttons(asked), asked)
        self.screen.post(post)
        await self.faults.hold()
        return {"message_id": int(post.id), "date": 1_700_000_000, "chat": self._chat(place)}

    def _edit(self, asked: dict[str, Any]) -> dict[str, Any]:
        room = str(asked["chat_id"])
        self._check(room)
        found = self.screen.find(str(asked["message_id"]), room)
        if found is None:
            raise Refused(400, "Bad Request: message to edit not found")
        text, buttons = self._visible(asked), _buttons(asked)
        if text == found.texts[-1] and buttons == found.buttons:
            raise Refused(
                400, "Bad Request: message is not modified: specified new message content is the same"
            )
        self.screen.change(found, text, buttons)
        return {"message_id": asked["message_id"], "date": 1_700_000_000, "chat": self._chat(found.place)}

    def _check(self, room: str) -> None:
        if self.faults.refuses():
            raise Refused(429, "Too Many Requests: retry after 0.05", retry_after=0.05)
        if room in self.moved:
            reason = "Bad Request: group chat was upgraded to a supergroup chat"
            raise Refused(400, reason, migrate_to_chat_id=int(self.moved[room]))

    def _visible(self, asked: dict[str, Any]) -> str:
        """Return what people see. Raises Refused for what Telegram refuses."""
        text = asked["text"]
        if asked.get("parse_mode") == "HTML":
            if self.cannot_parse:
                raise Refused(400, "Bad Request: can't parse entities: a reason of the test")
            text = visible(text)
        if not text.strip():
            raise Refused(400, "Bad Request: message text is empty")
        if len(text.encode("utf-16-le")) // 2 > MAX_UNITS:
            raise Refused(400, "Bad Request: message is too long")
        return text

    async def _file(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["name"]])


def _user(name: str) -> dict[str, Any]:
    shown = SHOWN_NAMES.get(name, name)
    return {"id": PEOPLE[name], "is_bot": False, "first_name": shown, "username": shown}


def _thread(place: Place) -> dict[str, Any]:
    return {"message_thread_id": int(place.thread), "is_topic_message": True} if place.thread else {}


def _buttons(asked: dict[str, Any]) -> dict[str, str]:
    rows = asked.get("reply_markup", {}).get("inline_keyboard", [])
    found = {button["text"]: button["callback_data"] for row in rows for button in row}
    if any(not 1 <= len(data.encode()) <= 64 for data in found.values()):
        raise Refused(400, "Bad Request: BUTTON_DATA_INVALID")
    return found


def _read(value: str) -> Any:
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value
