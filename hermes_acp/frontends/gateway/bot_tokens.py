"""Verify Microsoft's Bot Framework tokens, and obtain our own.

Source: Bot Framework REST reference, "Authentication with the Bot Connector API".
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import anyio
import msgspec

from hermes_acp.config.sections.gateway_settings import check_address
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.port.platform_port import PlatformContext, PlatformError

ISSUER: Final = "https://api.botframework.com"
SCOPE: Final = "https://api.botframework.com/.default"
CHANNEL: Final = "msteams"
ALGORITHM: Final = "RS256"
LEEWAY_S: Final = 300
RELOAD_S: Final = 60.0
"""The minimum interval between two downloads of Microsoft's keys, no matter which keys requests name."""
RENEW_S: Final = 300.0
"""The time before its expiry at which our own token is renewed."""
RETRY_AFTER_S: Final = 5.0


class BotTokens:
    """Verifies Microsoft's tokens, and obtains our own."""

    def __init__(self, context: PlatformContext, http: Any) -> None:
        self._settings = context.settings
        self._secret = context.secrets["password"]
        self._http = http
        self._jwt: Any = import_module("jwt")
        self._keys: dict[str, dict[str, Any]] = {}
        self._next_load = 0.0
        self._loading = anyio.Lock()
        self._own = ""
        self._own_until = 0.0

    async def is_genuine(self, channel_id: str, service_url: str, header: str) -> bool:
        """Return whether Microsoft sent a Teams activity to this bot.

        Raises PlatformError if Microsoft's keys cannot be fetched.
        """
        kind, _, token = header.partition(" ")
        if kind.lower() != "bearer":
            return False
        try:
            key_id = str(self._jwt.get_unverified_header(token).get("kid", ""))
            key = await self._key(key_id)
            if key is None or channel_id not in key.get("endorsements", ()):
                return False
            claims = self._jwt.decode(
                token,
                self._jwt.PyJWK(key, algorithm=ALGORITHM).key,
                algorithms=[ALGORITHM],
                audience=self._settings.app_id,
                issuer=ISSUER,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except self._jwt.PyJWTError:
            return False
        service = claims.get("serviceurl") or claims.get("serviceUrl")
        return channel_id == CHANNEL and service == service_url

    async def own(self) -> str:
        """Return a token for the connector. Raises PlatformError."""
        if not self._own or anyio.current_time() >= self._own_until:
            address = f"{self._settings.login}/{self._settings.tenant}/oauth2/v2.0/token"
            asked = {
                "grant_type": "client_credentials",
                "client_id": self._settings.app_id,
                "client_secret": self._secret,
                "scope": SCOPE,
            }
            answer = await fetch_json(self._http, "POST", address, data=asked)
            self._own = str(answer["access_token"])
            self._own_until = anyio.current_time() + max(0.0, float(answer.get("expires_in", 0)) - RENEW_S)
        return self._own

    async def _key(self, key_id: str) -> dict[str, Any] | None:
        async with self._loading:
            if key_id not in self._keys and anyio.current_time() >= self._next_load:
                where = await fetch_json(self._http, "GET", self._settings.openid)
                found = await fetch_json(self._http, "GET", check_address(str(where["jwks_uri"])))
                self._keys = {str(key.get("kid", "")): key for key in found["keys"]}
                self._next_load = anyio.current_time() + RELOAD_S
            return self._keys.get(key_id)


async def fetch_json(http: Any, method: str, address: str, **asked: Any) -> Mapping[str, Any]:
    """Request JSON from a Microsoft service. Raises PlatformError."""
    aiohttp: Any = import_module("aiohttp")
    try:
        async with http.request(method, address, allow_redirects=False, **asked) as answer:
            content = await answer.read()
    except aiohttp.ClientConnectorError as error:
        raise PlatformError(messages.unreachable(str(error))) from None
    except (aiohttp.ClientError, TimeoutError) as error:
        raise PlatformError(type(error).__name__, may_have_arrived=True) from None
    status: int = answer.status
    if status < 300:
        return msgspec.json.decode(content) if content.strip() else {}
    reason = f"HTTP {status}"
    if status == 429:
        wait = str(answer.headers.get("Retry-After", ""))
        is_number = wait.replace(".", "", 1).isdigit()
        raise PlatformError(reason, retry_after_s=float(wait) if is_number else RETRY_AFTER_S)
    is_passing = status >= 500 or status == 401
    raise PlatformError(reason, is_permanent=not is_passing, may_have_arrived=status >= 500)
