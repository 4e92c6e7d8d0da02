"""Authenticate requests to an MCP server with a bearer token.

Imported only if a server is reached over HTTP. Source: Model Context Protocol 2026-07-28, authorization;
RFC 6749 section 6, RFC 6750.
"""

import time
from collections.abc import AsyncGenerator
from typing import Any, Final

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from hermes_acp.mcp.server_definitions import Challenge
from hermes_acp.mcp.sign_in.token_store import StoredTokens, TokenFile

REFRESH_MARGIN_S: Final = 20.0
NO_REDIRECT: Final = "http://127.0.0.1/callback"
REFUSED_STATUSES: Final = frozenset({400, 401, 403})


class BearerAuth(httpx2.Auth):
    """The user's authorization at a server; `challenge` is the server's last refusal."""

    def __init__(self, url: str, file: TokenFile) -> None:
        self.challenge: Challenge | None = None
        self.sent: set[str] = set()
        """The access tokens that were sent, and the refresh tokens that belong to them."""
        self._url = url
        self._file = file

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request with the current token; if the token is rejected, retry with a fresh one."""
        keys = await self._file.read()
        if keys and keys.expires_at_s is not None and keys.expires_at_s - REFRESH_MARGIN_S < time.time():
            async with self._file.held():
                keys = await self._file.read()
                if keys and (refresher := _refresher_of(keys)):
                    keys = await self._take(keys, refresher, (yield await refresher.ask()))
        response = yield self._authorize(request, keys)
        if response.status_code == 401 and keys:
            async with self._file.held():
                before, keys = keys, await self._file.read()
                if keys and keys.access == before.access:
                    refresher = _refresher_of(keys)
                    keys = (
                        await self._take(keys, refresher, (yield await refresher.ask()))
                        if refresher
                        else None
                    )
            if keys:
                response = yield self._authorize(request, keys)
        self._note_challenge(response)

    def _authorize(self, request: httpx2.Request, keys: StoredTokens | None) -> httpx2.Request:
        if keys and keys.access:
            self.sent.update(filter(None, (keys.access, str(keys.tokens.get("refresh_token") or ""))))
            request.headers["Authorization"] = f"Bearer {keys.access}"
        return request

    async def _take(
        self, keys: StoredTokens, refresher: "TokenRefresher", response: httpx2.Response
    ) -> StoredTokens | None:
        """Store renewed tokens; delete rejected ones. Raises httpx2.ConnectError if the outcome is unknown."""
        content = await response.aread()
        if response.status_code in REFUSED_STATUSES:
            await self._file.forget()
            return None
        if response.status_code != 200:
            raise httpx2.ConnectError(f"The token could not be renewed: HTTP status {response.status_code}")
        fresh = await refresher.take(httpx2.Response(200, content=content, request=response.request))
        if not fresh:
            await self._file.forget()
            return None
        keys = to_stored_tokens(refresher, keys.url)
        await self._file.write(keys)
        return keys

    def _note_challenge(self, response: httpx2.Response) -> None:
        header = response.headers.get("www-authenticate", "")
        if response.status_code == 401 or (response.status_code == 403 and "insufficient_scope" in header):
            self.challenge = Challenge(response.status_code, header)
        elif response.status_code < 400:
            self.challenge = None


class PendingTokens:
    """Keeps the package's tokens until they are stored."""

    def __init__(
        self, tokens: OAuthToken | None = None, client: OAuthClientInformationFull | None = None
    ) -> None:
        self._tokens = tokens
        self._client = client

    async def get_tokens(self) -> OAuthToken | None:
        """Return the current tokens, or None."""
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Replace the current tokens."""
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the client registration, or None."""
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Replace the client registration."""
        self._client = client_info


class TokenRefresher(OAuthClientProvider):
    """The token refresh of the package: one request and its answer."""

    async def ask(self) -> httpx2.Request:
        """Return the request for fresh tokens."""
        return await self._refresh_token()

    async def take(self, response: httpx2.Response) -> bool:
        """Process the answer; return whether it contains fresh tokens."""
        return await self._handle_refresh_response(response)


def to_stored_tokens(provider: OAuthClientProvider, url: str) -> StoredTokens:
    """Return the provider's current tokens for storage. Raises OAuthFlowError if it has none."""
    context = provider.context
    if context.current_tokens is None or context.client_info is None:
        raise OAuthFlowError("No tokens were issued")
    return StoredTokens(
        url,
        _plain(context.current_tokens),
        _plain(context.client_info),
        _plain(context.oauth_metadata) if context.oauth_metadata else None,
        _plain(context.protected_resource_metadata) if context.protected_resource_metadata else None,
        context.token_expiry_time,
    )


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _refresher_of(keys: StoredTokens) -> TokenRefresher | None:
    """Return the refresher for these tokens, or None if they cannot be refreshed."""
    try:
        tokens = OAuthToken.model_validate(keys.tokens)
        client = OAuthClientInformationFull.model_validate(keys.client)
        known = OAuthMetadata.model_validate(keys.authorization_server) if keys.authorization_server else None
        resource = ProtectedResourceMetadata.model_validate(keys.resource) if keys.resource else None
    except ValidationError:
        return None
    if not tokens.refresh_token:
        return None
    metadata = OAuthClientMetadata(redirect_uris=client.redirect_uris or [AnyUrl(NO_REDIRECT)])
    refresher = TokenRefresher(keys.url, metadata, PendingTokens(tokens, client))
    context = refresher.context
    context.current_tokens, context.client_info = tokens, client
    context.oauth_metadata, context.protected_resource_metadata = known, resource
    return refresher
