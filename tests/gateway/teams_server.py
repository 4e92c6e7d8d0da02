"""The published API of Teams, as the Bot Framework describes it: signed webhook activities, tokens, the connector."""

from __future__ import annotations

import time
from base64 import b64decode
from importlib import import_module
from itertools import count
from typing import Any

import anyio
import httpx2
from aiohttp import web

from hermes_acp.config.sections.gateway_settings import TeamsSettings
from tests.contract.platform_suite import file_mark
from tests.gateway.scripted_server import PEOPLE, SHOWN_NAMES, Place, Post, ScriptedWorld
from tests.ports import quiet_port

JWT: Any = import_module("jwt")
RSA: Any = import_module("cryptography.hazmat.primitives.asymmetric.rsa")
APP = "00000000-0000-0000-0000-00000000000a"
TENANT = "00000000-0000-0000-0000-0000000000ff"
BOT = f"28:{APP}"
CONSENT = "application/vnd.microsoft.teams.card.file.consent"
INFO = "application/vnd.microsoft.teams.card.file.info"


class TeamsWorld(ScriptedWorld):
    """A tenant with a bot, people, and a channel."""

    platform = "teams"
    repeats = False
    room = "19:room@thread.tacv2"

    def __init__(self) -> None:
        super().__init__()
        self.port = quiet_port()
        self.key = RSA.generate_private_key(65_537, 2_048)
        self.endorsements = ["msteams"]
        self.answers: list[int] = []
        self.key_loads = 0
        self.drive: dict[str, bytes] = {}
        self.offers: list[dict[str, Any]] = []
        self.file_answer = "accept"
        """Anna's answer when she is offered a file; if empty, she does not answer."""
        self._numbers = count(1)

    @property
    def secrets(self) -> dict[str, str]:
        return {"password": "secret-password-of-the-test"}

    def opened(self) -> None:
        self.settings = TeamsSettings(
            app_id=APP,
            tenant=TENANT,
            listen=f"127.0.0.1:{self.port}",
            openid=f"{self.url}/openid",
            login=f"{self.url}/login",
        )

    def routes(self) -> list[web.RouteDef]:
        base = "/service/v3/conversations/{conversation}/activities"
        return [
            web.get("/openid", self._openid),
            web.get("/keys", self._keys),
            web.post(f"/login/{TENANT}/oauth2/v2.0/token", self._token),
            web.post(base, self._send),
            web.put(f"{base}/{{activity}}", self._update),
            web.put("/drive/{token}", self._upload),
        ]

    def id_of(self, name: str) -> str:
        return f"{TENANT}:object-{PEOPLE[name]}"

    def direct_place(self, name: str) -> Place:
        return Place(f"a:direct-{PEOPLE[name]}")

    async def deliver(self, name: str, place: Place, text: str, **more: Any) -> None:
        names_agent = more.pop("names_agent", False)
        said: dict[str, Any] = {"text": f"<at>Agent</at> {text}" if names_agent else text}
        if names_agent:
            said["entities"] = [{"type": "mention", "mentioned": {"id": BOT}, "text": "<at>Agent</at>"}]
        await self.call(self.activity(name, place, **{**said, **more}))

    async def press(self, name: str, post: Post, label: str, data: str = "") -> None:
        value = {"token": data or post.sent_buttons[label]}
        await self.call(self.activity(name, post.place, value=value, replyToId=post.id))

    async def repeat(self) -> None:
        await self.call(self._last)

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

    def activity(self, name: str, place: Place, **more: Any) -> dict[str, Any]:
        """Return a person's activity, as Teams describes it."""
        is_direct = place.room.startswith("a:")
        thread = f";messageid={place.thread}" if place.thread else ""
        return {
            "type": "message",
            "id": str(1_700_000_000_000 + next(self._numbers)),
            "serviceUrl": f"{self.url}/service/",
            "channelId": "msteams",
            "from": {
                "id": f"29:{PEOPLE[name]}",
                "name": SHOWN_NAMES.get(name, name),
                "aadObjectId": f"object-{PEOPLE[name]}",
            },
            "conversation": {
                "id": f"{place.room}{thread}",
                "conversationType": "personal" if is_direct else "channel",
                "tenantId": TENANT,
                "isGroup": None if is_direct else True,
            },
            "recipient": {"id": BOT, "name": "Agent"},
            "text": None,
            **more,
        }

    async def call(self, activity: dict[str, Any], *, key: Any = None, **claims: Any) -> None:
        """Call the webhook with a token, signed by Microsoft unless another key is given."""
        self._last = activity
        algorithm, key_id = claims.pop("algorithm", "RS256"), claims.pop("kid", "key-1")
        whole = {
            "iss": "https://api.botframework.com",
            "aud": APP,
            "exp": time.time() + 600,
            "nbf": time.time() - 10,
            "serviceurl": activity["serviceUrl"],
            **claims,
        }
        token = JWT.encode(
            {name: value for name, value in whole.items() if value is not None},
            key if key is not None else self.key,
            algorithm=algorithm,
            headers={"kid": key_id},
        )
        await self.call_with(activity, f"Bearer {token}")

    async def call_with(self, activity: dict[str, Any], header: str) -> None:
        """Call the webhook with an authorization header."""
        async with httpx2.AsyncClient() as http:
            address = f"http://127.0.0.1:{self.port}/api/messages"
            answer = await http.post(address, json=activity, headers={"Authorization": header})
        self.answers.append(answer.status_code)

    async def _openid(self, request: web.Request) -> web.Response:
        return web.json_response({"issuer": "https://api.botframework.com", "jwks_uri": f"{self.url}/keys"})

    async def _keys(self, request: web.Request) -> web.Response:
        self.key_loads += 1
        public: dict[str, Any] = JWT.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        key = {**public, "kid": "key-1", "use": "sig", "endorsements": self.endorsements}
        return web.json_response({"keys": [key]})

    async def _token(self, request: web.Request) -> web.Response:
        asked = await request.post()
        assert asked["scope"] == "https://api.botframework.com/.default"
        if asked["client_secret"] != self.secrets["password"]:
            return web.json_response({"error": "invalid_client"}, status=401)
        return web.json_response({"token_type": "Bearer", "expires_in": 3_599, "access_token": "own-token"})

    async def _send(self, request: web.Request) -> web.Response:
        if refusal := self._refusal(request):
            return refusal
        asked = await request.json()
        room, _, thread = request.match_info["conversation"].partition(";messageid=")
        if cards := [each for each in asked.get("attachments") or () if each["contentType"] == CONSENT]:
            await self.answer_offer("anna", Place(room), cards[0])
            asked = {"text": f"Offer: {cards[0]['name']}"}
        text, buttons = self._shown(asked)
        post = Post(str(next(self._numbers)), Place(room, thread), [text], buttons, asked)
        self.screen.post(post)
        await self.faults.hold()
        return web.json_response({"id": post.id}, status=201)

    async def _update(self, request: web.Request) -> web.Response:
        if refusal := self._refusal(request):
            return refusal
        asked = await request.json()
        room = request.match_info["conversation"].partition(";")[0]
        post = self.screen.find(request.match_info["activity"], room)
        if post is None:
            return web.json_response({"error": {"code": "ActivityNotFoundInConversation"}}, status=404)
        self.screen.change(post, *self._shown(asked))
        return web.json_response({"id": post.id})

    async def answer_offer(
        self, name: str, place: Place, card: dict[str, Any], action: str = "", **info: Any
    ) -> None:
        """Have a person answer whether they want a file."""
        action = action or self.file_answer
        if not action:
            self.offers.append(card)
            return
        token = card["content"]["acceptContext"]["token"]
        where = {
            "name": card["name"],
            "uniqueId": "u1",
            "fileType": "txt",
            "contentUrl": f"{self.url}/{token}",
        }
        upload = {**where, "uploadUrl": f"{self.url}/drive/{token}", **info}
        value = {"type": "fileUpload", "action": action, "context": {"token": token}, "uploadInfo": upload}
        value = value if action == "accept" else {**value, "uploadInfo": None}
        said = self.activity(name, place, type="invoke", value=value)
        await self.call({**said, "name": "fileConsent/invoke"})

    async def _upload(self, request: web.Request) -> web.Response:
        content = await request.read()
        assert request.headers["Content-Range"] == f"bytes 0-{len(content) - 1}/{len(content)}"
        assert "Authorization" not in request.headers
        self.drive[f"{self.url}/{request.match_info['token']}"] = content
        return web.json_response({}, status=201)

    def _shown(self, asked: dict[str, Any]) -> tuple[str, dict[str, str]]:
        """Return what people see: a text, a file, or a card with buttons."""
        attachments: list[dict[str, Any]] = asked.get("attachments") or []
        if not attachments:
            return asked["text"], {}
        first = attachments[0]
        if first["contentType"] == INFO:
            assert first["content"] == {"uniqueId": "u1", "fileType": "txt"}
            return file_mark(first["name"], self.drive[first["contentUrl"]]), {}
        if first["contentType"].startswith("image/"):
            return file_mark(first["name"], b64decode(first["contentUrl"].partition(";base64,")[2])), {}
        card = first["content"]
        assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
        return card["body"][0]["text"], {each["title"]: each["data"]["token"] for each in card["actions"]}

    def _refusal(self, request: web.Request) -> web.Response | None:
        if request.headers.get("Authorization") != "Bearer own-token":
            return web.json_response({}, status=401)
        if self.faults.refuses():
            return web.json_response({}, status=429, headers={"Retry-After": "0.05"})
        return None
