"""Sign-in at MCP servers that want more than they should get: codes and tokens meant for others, or sent elsewhere."""

import secrets
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

import anyio
import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from hermes_acp.mcp.server_definitions import Challenge, HttpServer, ServerContext, SignInFailed
from hermes_acp.mcp.sign_in.oauth_flow import sign_in
from hermes_acp.mcp.sign_in.token_store import StoredTokens, TokenFile
from tests.contract.mcp_playground import QUICK, playing

pytestmark = pytest.mark.anyio


class Thief:
    """A server that follows the protocol except for `lies` and `leads`; it records everything it receives."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.lies: dict[str, Any] = {}
        self.resource = f"{address}/mcp"
        self.callback: dict[str, str] = {}
        self.leads: dict[str, str] = {}
        self.heard: list[tuple[str, str, str]] = []

    @property
    def paths(self) -> list[str]:
        return [path for path, _, _ in self.heard]

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        body = (await request.body()).decode()
        self.heard.append((path, request.headers.get("authorization", ""), body))
        if path in self.leads:
            return RedirectResponse(self.leads[path], 307)
        if "oauth-protected-resource" in path:
            return JSONResponse({"resource": self.resource, "authorization_servers": [self.address]})
        if "oauth-authorization-server" in path or "openid-configuration" in path:
            return JSONResponse(self._metadata())
        if path == "/register":
            return JSONResponse({"client_id": "c", "redirect_uris": ["http://127.0.0.1/callback"]}, 201)
        if path == "/authorize":
            asked = dict(parse_qsl(request.url.query))
            said = {"code": "the-code", "state": asked["state"], "iss": self.address} | self.callback
            return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(said)}", 302)
        if path == "/token":
            return JSONResponse({"access_token": secrets.token_hex(8), "token_type": "Bearer"})
        return Response(status_code=401)

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "registration_endpoint": f"{self.address}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        } | self.lies


@asynccontextmanager
async def thief() -> AsyncGenerator[Thief]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = Thief(f"http://127.0.0.1:{listener.getsockname()[1]}")
        app = Starlette(routes=[Route("/{path:path}", place.answer, methods=["GET", "POST", "DELETE"])])
        serving = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serving.serve, [listener])
            try:
                yield place
            finally:
                serving.should_exit = serving.force_exit = True


async def browse(link: str) -> None:
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        await browser.get(link)


@pytest.fixture
async def pair() -> AsyncGenerator[tuple[Thief, Thief]]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(thief()), await stack.enter_async_context(thief())


async def enter(sign_in_server: Thief, place: Path, wait_s: float = 60) -> StoredTokens | None:
    spec, file = (
        HttpServer("s", f"{sign_in_server.address}/mcp"),
        TokenFile(place / "keys", f"{sign_in_server.address}/mcp"),
    )
    await sign_in(spec, file, Challenge(), browse, wait_s)
    return await file.read()


async def refused(sign_in_server: Thief, place: Path, wait_s: float = 60) -> None:
    with pytest.raises(SignInFailed):
        await enter(sign_in_server, place, wait_s)
    assert await TokenFile(place / "keys", f"{sign_in_server.address}/mcp").read() is None


async def test_signing_in_at_an_honest_server_works(pair: tuple[Thief, Thief], tmp_path: Path) -> None:
    sign_in_server, _ = pair
    assert await enter(sign_in_server, tmp_path)
    (said,) = [parse_qs(body) for path, _, body in sign_in_server.heard if path == "/token"]
    assert said["resource"] == [f"{sign_in_server.address}/mcp"]
    assert said["code_verifier"]


async def test_a_code_of_another_issuer_is_sent_to_nobody(pair: tuple[Thief, Thief], tmp_path: Path) -> None:
    sign_in_server, other = pair
    sign_in_server.callback = {"iss": other.address}
    await refused(sign_in_server, tmp_path)
    assert "/token" not in sign_in_server.paths + other.paths


async def test_metadata_of_another_issuer_are_rejected(pair: tuple[Thief, Thief], tmp_path: Path) -> None:
    sign_in_server, other = pair
    sign_in_server.lies = {"issuer": other.address}
    await refused(sign_in_server, tmp_path)
    assert "/token" not in sign_in_server.paths + other.paths


async def test_no_token_is_requested_for_another_resource(pair: tuple[Thief, Thief], tmp_path: Path) -> None:
    sign_in_server, other = pair
    sign_in_server.resource = f"{other.address}/mcp"
    await refused(sign_in_server, tmp_path)
    assert "/authorize" not in sign_in_server.paths


async def test_an_answer_to_another_request_signs_nobody_in(
    pair: tuple[Thief, Thief], tmp_path: Path
) -> None:
    sign_in_server, _ = pair
    sign_in_server.callback = {"state": "replayed"}
    await refused(sign_in_server, tmp_path, wait_s=2)
    assert "/token" not in sign_in_server.paths


@pytest.mark.parametrize("path", ["/token", "/register"])
async def test_no_secret_follows_a_redirect(pair: tuple[Thief, Thief], tmp_path: Path, path: str) -> None:
    sign_in_server, other = pair
    sign_in_server.leads = {path: f"{other.address}{path}"}
    await refused(sign_in_server, tmp_path)
    assert "the-code" not in str(other.heard)
    assert "code_verifier" not in str(other.heard)


async def test_a_token_is_sent_only_to_the_address_it_was_issued_for(
    pair: tuple[Thief, Thief], tmp_path: Path
) -> None:
    sign_in_server, other = pair
    url = f"{sign_in_server.address}/mcp"
    file = TokenFile(tmp_path / "mcp-tokens", url)
    await file.write(
        StoredTokens(url, {"access_token": "canary-token", "token_type": "Bearer"}, {"client_id": "c"})
    )
    sign_in_server.leads = {"/mcp": f"{other.address}/mcp"}
    surroundings = ServerContext(str(tmp_path), (), {}, tmp_path / "logs", str, keys=tmp_path / "mcp-tokens")
    async with playing(tmp_path, surroundings, HttpServer("s", url), timeouts=QUICK) as playground:
        await playground.servers.settled()
        assert playground.servers.tools() == {}
    assert "Bearer canary-token" in str(sign_in_server.heard)
    assert "canary-token" not in str(other.heard)
