"""Sign in to a server, from its challenge to the stored tokens.

Imported only when a user signs in. Source: Model Context Protocol 2026-07-28, authorization; RFC 7591, 7636, 8252,
8414, 9207, 9728.
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Final
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from hermes_acp.core.errors import StorageError, first_error
from hermes_acp.core.untrusted_text import plain
from hermes_acp.mcp.server_definitions import Challenge, HttpServer, SignInFailed, SseServer
from hermes_acp.mcp.server_transports import http_client
from hermes_acp.mcp.sign_in.bearer_auth import PendingTokens, to_stored_tokens
from hermes_acp.mcp.sign_in.oauth_callback import CallbackServer, serve_callback
from hermes_acp.mcp.sign_in.token_store import TokenFile

SIGN_IN_TIMEOUT_S: Final = 300.0
MAX_ANSWER_BYTES: Final = 1 << 20
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
ShowLink = Callable[[str], Awaitable[None]]


async def sign_in(
    spec: HttpServer | SseServer,
    file: TokenFile,
    challenge: Challenge,
    show: ShowLink,
    wait_s: float = SIGN_IN_TIMEOUT_S,
) -> None:
    """Let the user sign in through the link passed to `show`, and store the tokens. Raises SignInFailed."""
    try:
        async with serve_callback(spec.oauth.port) as callback_server:
            client = await http_client(spec, is_bare=True)
            async with client:
                with anyio.fail_after(wait_s):
                    await _run_flow(spec, file, challenge, show, callback_server, client)
    except BaseExceptionGroup as group:
        raise SignInFailed(_why(first_error(group), wait_s)) from None
    except (TimeoutError, OSError) as error:
        raise SignInFailed(_why(error, wait_s)) from None


async def _run_flow(
    spec: HttpServer | SseServer,
    file: TokenFile,
    challenge: Challenge,
    show: ShowLink,
    callback_server: CallbackServer,
    client: httpx2.AsyncClient,
) -> None:
    """Run the package's steps one by one, starting with the request that caused the challenge."""
    provider = await _provider(spec, file, challenge, show, callback_server)
    refused = client.build_request("POST", spec.url)
    async with aclosing(provider.async_auth_flow(refused)) as flow:
        outgoing = await anext(flow)
        outgoing = await flow.asend(
            httpx2.Response(
                challenge.status, headers={"www-authenticate": challenge.header}, content=b"", request=refused
            )
        )
        while outgoing is not refused:
            require_safe_url(str(outgoing.url), spec.url)
            outgoing = await flow.asend(await _send(client, outgoing))
    async with file.held():
        await file.write(to_stored_tokens(provider, spec.url))


async def _provider(
    spec: HttpServer | SseServer,
    file: TokenFile,
    challenge: Challenge,
    show: ShowLink,
    callback_server: CallbackServer,
) -> OAuthClientProvider:
    async def lead(link: str) -> None:
        require_safe_url(link, spec.url)
        callback_server.expect(link)
        await show(link)

    async def arrive() -> AuthorizationCodeResult:
        said = await callback_server.wait_for_redirect()
        if "error" in said:
            about = plain(said.get("error_description") or said["error"], 300)
            raise SignInFailed(f"The sign-in was refused: {about}.")
        return AuthorizationCodeResult(code=said["code"], state=said.get("state"), iss=said.get("iss"))

    address = [AnyUrl(callback_server.address)]
    oauth = spec.oauth
    registered = (
        OAuthClientInformationFull(
            client_id=oauth.client_id,
            client_secret=oauth.client_secret or None,
            redirect_uris=address,
            token_endpoint_auth_method="client_secret_post" if oauth.client_secret else "none",
        )
        if oauth.client_id
        else None
    )
    before = await file.read() if challenge.status == 403 else None
    granted = OAuthToken.model_validate(before.tokens) if before else None
    metadata = OAuthClientMetadata(
        redirect_uris=address,
        client_name="hermes-acp",
        token_endpoint_auth_method="none",
        grant_types=["authorization_code", "refresh_token"],
    )
    draft = PendingTokens(granted, registered)
    return OAuthClientProvider(spec.url, metadata, draft, lead, arrive, oauth.client_metadata_url or None)


async def _send(client: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
    """Send a request and return its response, with the size of the body limited."""
    response = await client.send(request, stream=True, follow_redirects=False)
    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_ANSWER_BYTES:
                raise SignInFailed("The sign-in failed: an answer is larger than 1 MiB.")
    finally:
        await response.aclose()
    kind = response.headers.get("content-type", "application/json")
    whole = httpx2.Response(
        response.status_code, headers={"content-type": kind}, content=bytes(body), request=request
    )
    whole.next_request = response.next_request
    return whole


def require_safe_url(url: str, server: str) -> None:
    """Reject URLs at which a secret could be intercepted and those that are not web pages. Raises SignInFailed."""
    address, own = urlsplit(url), urlsplit(server)
    is_plain = address.scheme == "http" and (
        (address.hostname or "") in LOOPBACK
        if own.hostname in LOOPBACK
        else own.scheme == "http" and address.hostname == own.hostname
    )
    if not is_plain and address.scheme != "https":
        where = plain(f"{address.scheme}://{address.hostname or ''}", 100)
        raise SignInFailed(
            f"The sign-in would lead to {where}, which is not a safe page, so it was not started."
        )


def _why(error: BaseException, wait_s: float) -> str:
    """Explain why the sign-in failed, without revealing any secret."""
    match error:
        case SignInFailed():
            return error.words
        case TimeoutError():
            return f"Nobody signed in within {wait_s / 60:g} minutes."
        case OAuthRegistrationError():
            return (
                "The sign-in failed: programs cannot register themselves there. Register a client yourself and set its "
                "ID in config.yaml (`oauth: {client_id: …}`)."
            )
        case httpx2.HTTPError():
            return f"The sign-in failed: one of its addresses cannot be reached ({type(error).__name__})."
        case OAuthFlowError() | ValueError() | httpx2.InvalidURL():
            return f"The sign-in failed: the response was not valid ({type(error).__name__})."
        case StorageError():
            return error.sentence()
        case OSError():
            return f"The sign-in failed: {plain(error.strerror or str(error))}."
        case _:
            raise error
