"""An MCP server that requires a sign-in, with its own authorization server and a user with a browser.

`refuses` makes the next renewals fail; `down` answers them with a server error.
"""

import secrets
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl

SCOPES = ["use"]


class FakeAuthorizationServer:
    """The authorization server: its clients, the tokens it issued, and how often it was called."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.renewals = 0
        self.signs_in = 0
        self.refuses = False
        self.denies = False
        self.expires_in = 3600

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if self.denies:
            return construct_redirect_uri(str(params.redirect_uri), error="access_denied", state=params.state)
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or SCOPES,
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        self.signs_in += 1
        return self._give_out(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.renewals += 1
        if self.refuses or self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant", "no longer")
        return self._give_out(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)

    async def exchange_identity_assertion(self, client: Any, params: Any) -> OAuthToken:
        raise TokenError("unsupported_grant_type")

    def forget_access(self) -> None:
        """Reject every token issued so far; they can be renewed."""
        self.access.clear()

    def _give_out(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        token, again = f"opaque{secrets.token_hex(16)}", f"again{secrets.token_hex(16)}"
        self.access[token] = AccessToken(token=token, client_id=client_id, scopes=scopes, resource=resource)
        self.refresh[again] = RefreshToken(token=again, client_id=client_id, scopes=scopes, resource=resource)
        return OAuthToken(
            access_token=token, refresh_token=again, expires_in=self.expires_in, scope=" ".join(scopes)
        )


class Guarded:
    """The server as the tests reach it."""

    def __init__(self, address: str, keeper: FakeAuthorizationServer) -> None:
        self.address = address
        self.url = f"{address}/mcp"
        self.keeper = keeper


async def sign_in_at(link: str) -> httpx2.Response:
    """Do what a browser does after the user agrees: follow the link and every redirect."""
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        return await browser.get(link)


@asynccontextmanager
async def guarded() -> AsyncGenerator[Guarded]:
    """Run the server on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        keeper = FakeAuthorizationServer()
        server = MCPServer(
            "guarded",
            auth_server_provider=keeper,
            auth=AuthSettings(
                issuer_url=AnyHttpUrl(address),
                resource_server_url=AnyHttpUrl(f"{address}/mcp"),
                required_scopes=SCOPES,
                validate_token_resource=True,
                client_registration_options=ClientRegistrationOptions(
                    enabled=True, valid_scopes=[*SCOPES, "more"], default_scopes=SCOPES
                ),
            ),
        )

        def add(a: int, b: int) -> str:
            """Add two numbers."""
            return str(a + b)

        def tattle() -> str:
            """Return what the caller sent."""
            known = get_access_token()
            return f"You are {known.token if known else 'nobody'}."

        server.add_tool(add)
        server.add_tool(tattle)
        serving = uvicorn.Server(
            uvicorn.Config(server.streamable_http_app(), log_level="error", timeout_graceful_shutdown=1)
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serving.serve, [listener])
            try:
                yield Guarded(address, keeper)
            finally:
                serving.should_exit = True
                serving.force_exit = True
