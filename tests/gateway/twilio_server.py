"""Twilio's published API: the Messages resource, and signed requests to a webhook."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from email.utils import format_datetime
from importlib import import_module
from itertools import count
from typing import Any

import anyio
import httpx2
from aiohttp import web

from hermes_acp.config.sections.gateway_settings import TwilioSettings
from tests.contract.platform_suite import file_mark
from tests.gateway.scripted_server import PEOPLE, SHOWN_NAMES, Place, Post, ScriptedWorld
from tests.ports import quiet_port

VALIDATION: Any = import_module("twilio.request_validator")
ACCOUNT = f"AC{'0' * 32}"
NUMBER = "+15550009999"
PUBLIC = "https://agent.example.org/twilio"
MAX_CHARACTERS = 1_600


class TwilioWorld(ScriptedWorld):
    """An account with a number for WhatsApp, and people."""

    platform = "twilio"

    def __init__(self) -> None:
        super().__init__()
        self.port = quiet_port()
        self.said: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.answers: list[int] = []
        self._numbers = count(1)
        self.addresses: list[str] = []
        self.fetched: list[str] = []
        self.reaches_files = True
        self.status: tuple[str, int | None] = ("sent", None)

    def opened(self) -> None:
        self.settings = TwilioSettings(
            account=ACCOUNT,
            webhook_url=PUBLIC,
            whatsapp=NUMBER,
            listen=f"127.0.0.1:{self.port}",
            api=self.url,
        )

    def forget(self) -> None:
        super().forget()
        self.said.clear()

    def routes(self) -> list[web.RouteDef]:
        base = f"/2010-04-01/Accounts/{ACCOUNT}"
        return [
            web.get(f"{base}/Messages.json", self._list),
            web.post(f"{base}/Messages.json", self._create),
            web.get(f"{base}/Messages/{{message}}.json", self._status),
            web.get(f"{base}/Messages/{{message}}/Media.json", self._media_list),
            web.get(f"{base}/Messages/{{message}}/Media/{{media}}", self._media),
            web.get("/cdn/{media}", self._content),
        ]

    def id_of(self, name: str) -> str:
        return f"whatsapp:+155500000{PEOPLE[name]}"

    async def deliver(self, name: str, place: Place, text: str, **more: Any) -> None:
        """Call the webhook; keep the message whatever the result."""
        sid = f"SM{next(self._numbers):032}"
        said = {
            "MessageSid": sid,
            "AccountSid": ACCOUNT,
            "From": self.id_of(name),
            "To": f"whatsapp:{NUMBER}",
            "Body": text,
            "NumMedia": "0",
            "ProfileName": SHOWN_NAMES.get(name, name),
            **more,
        }
        self.said.append(said)
        self._last = said
        await self.call(said)

    async def call(self, said: dict[str, Any], **headers: str) -> None:
        """Call the webhook, signed unless there is another signature."""
        validator = VALIDATION.RequestValidator(self.secrets["token"])
        signature = validator.compute_signature(PUBLIC, said)
        signed = {"X-Twilio-Signature": signature, **headers}
        async with httpx2.AsyncClient() as http:
            try:
                answer = await http.post(f"http://127.0.0.1:{self.port}/twilio", data=said, headers=signed)
            except httpx2.TransportError:
                self.answers.append(0)
            else:
                self.answers.append(answer.status_code)

    async def joined(self) -> None:
        """Wait until the webhook answers."""
        while True:
            async with httpx2.AsyncClient() as http:
                try:
                    await http.get(f"http://127.0.0.1:{self.port}/")
                except httpx2.TransportError:
                    await anyio.sleep(0.02)
                else:
                    return

    async def repeat(self) -> None:
        await self.call(self._last)

    def _is_allowed(self, request: web.Request) -> bool:
        account = b64encode(f"{ACCOUNT}:{self.secrets['token']}".encode()).decode()
        return request.headers.get("Authorization") == f"Basic {account}"

    async def _list(self, request: web.Request) -> web.Response:
        if not self._is_allowed(request):
            return _refusal(401, 20003)
        assert request.query["DateSent>"]
        found = [each for each in self.said if each["To"] == request.query["To"]]
        listed = [
            {
                "sid": each["MessageSid"],
                "from": each["From"],
                "to": each["To"],
                "body": each["Body"],
                "num_media": each["NumMedia"],
                "direction": "inbound",
                "date_sent": format_datetime(datetime.now(UTC)),
            }
            for each in found[::-1]
        ]
        return web.json_response({"messages": listed, "next_page_uri": None, "page": 0, "page_size": 50})

    async def _create(self, request: web.Request) -> web.Response:
        if not self._is_allowed(request):
            return _refusal(401, 20003)
        asked = {key: str(value) for key, value in (await request.post()).items()}
        if self.faults.refuses():
            return _refusal(429, 20429)
        if not 0 < len(asked["Body"]) <= MAX_CHARACTERS:
            return _refusal(400, 21617)
        if asked["To"].endswith("13"):
            return _refusal(400, 63016)
        shown = asked["Body"]
        if address := asked.get("MediaUrl"):
            shown = await self._fetch(asked["Body"], address)
        post = Post(f"SM{next(self._numbers):032}", Place(asked["To"]), [shown], {}, asked)
        self.screen.post(post)
        await self.faults.hold()
        return web.json_response({"sid": post.id, "status": "queued", "body": asked["Body"]}, status=201)

    async def _fetch(self, name: str, address: str) -> str:
        """Fetch a file through the web server of the gateway's machine; return what people see of it."""
        self.addresses.append(address)
        if not self.reaches_files:
            return ""
        assert address.startswith(f"{PUBLIC}/")
        local = address.replace("https://agent.example.org", f"http://127.0.0.1:{self.port}")
        async with httpx2.AsyncClient() as http:
            await http.head(local)
            answer = await http.get(local)
        assert answer.status_code == 200
        self.fetched.append(answer.headers["Content-Type"])
        return file_mark(name, answer.content)

    async def _status(self, request: web.Request) -> web.Response:
        status, code = self.status
        return web.json_response({"sid": request.match_info["message"], "status": status, "error_code": code})

    async def _media_list(self, request: web.Request) -> web.Response:
        media = [{"sid": name, "content_type": "text/plain"} for name in self.files]
        return web.json_response({"media_list": media, "next_page_uri": None, "page": 0, "page_size": 50})

    async def _media(self, request: web.Request) -> web.Response:
        if not self._is_allowed(request):
            return _refusal(401, 20003)
        raise web.HTTPTemporaryRedirect(f"{self.url}/cdn/{request.match_info['media']}")

    async def _content(self, request: web.Request) -> web.Response:
        assert "Authorization" not in request.headers
        return web.Response(body=self.files[request.match_info["media"]])


def _refusal(status: int, code: int) -> web.Response:
    content = {"code": code, "message": "a reason of the test", "more_info": "", "status": status}
    return web.json_response(content, status=status)
