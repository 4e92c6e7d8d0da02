"""Signing in at a hub with a real OpenID provider, behind a real proxy with TLS."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import anyio
import httpx2
import pytest
from httpx2.websockets import WebSocketDisconnect, WebSocketUpgradeError
from playwright.async_api import async_playwright

from tests.e2e.agent_process import WAIT_S
from tests.e2e.foreign_clients import CLIENTS, node_for
from tests.e2e.hub_serving import Hub, hub_of
from tests.e2e.web_page import ARGUMENTS, WAIT_MS, build_page, require_page
from tests.model_server import Reply, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="processes are POSIX"),
]
PROXY = """
daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  map $http_upgrade $upgrade_to {{ default ""; websocket websocket; }}
  map $upgrade_to $connection_to {{ default upgrade; "" ""; }}
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    location / {{
      proxy_pass http://127.0.0.1:{inner};
      proxy_http_version 1.1; proxy_buffering off; proxy_read_timeout 1h;
      proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header Upgrade $upgrade_to; proxy_set_header Connection $connection_to;
    }}
  }}
}}
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@asynccontextmanager
async def identity_provider(node: str, redirect_uri: str) -> AsyncGenerator[str]:
    """Yield the issuer of a provider that accepts everybody."""
    process = await anyio.open_process(
        [node, str(CLIENTS / "identity_provider.mjs"), redirect_uri], stderr=subprocess.DEVNULL
    )
    async with process:
        assert process.stdout
        with anyio.fail_after(WAIT_S):
            issuer = (await process.stdout.receive()).decode().strip()
        try:
            yield issuer
        finally:
            process.kill()


@asynccontextmanager
async def proxy(folder: Path, port: int, inner: int) -> AsyncGenerator[ssl.SSLContext]:
    """Yield the TLS context that trusts a proxy in front of a hub."""
    folder.mkdir()
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    made += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    await anyio.run_process(made, stderr=subprocess.DEVNULL)
    (folder / "nginx.conf").write_text(PROXY.format(folder=folder, port=port, inner=inner))
    process = await anyio.open_process(["nginx", "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)
    async with process:
        with anyio.fail_after(WAIT_S):
            while True:
                try:
                    stream = await anyio.connect_tcp("127.0.0.1", port)
                except OSError:
                    await anyio.sleep(0.05)
                    continue
                await stream.aclose()
                break
        try:
            yield ssl.create_default_context(cafile=str(folder / "cert.pem"))
        finally:
            process.terminate()


async def sign_in(browser: httpx2.AsyncClient, start: str, name: str) -> httpx2.Response:
    """Follow a sign-in as a browser does: redirects, the provider's forms; return the last answer."""
    answer = await browser.get(start)
    for _ in range(20):
        if answer.is_redirect:
            target = urljoin(str(answer.url), answer.headers["location"])
            if "#" in target:
                return answer
            answer = await browser.get(target)
        elif form := re.search(r'<form[^>]*action="([^"]+)"[^>]*method="post"', answer.text):
            is_login = 'name="login"' in answer.text
            filled = (
                {"prompt": "login", "login": name, "password": "x"} if is_login else {"prompt": "consent"}
            )
            answer = await browser.post(urljoin(str(answer.url), form[1]), data=filled)
        else:
            return answer
    raise AssertionError(answer.text)


@asynccontextmanager
async def signing_in(tmp_path: Path, *, is_required: bool) -> AsyncGenerator[tuple[Hub, str, ssl.SSLContext]]:
    """Yield a hub with an identity provider behind a proxy, its public address, and the context that trusts it."""
    node = node_for("oidc-provider", is_required=is_required)
    if shutil.which("nginx") is None:
        assert not is_required, "nginx is not installed: tests/install.sh"
        pytest.skip("nginx is not installed")
    port = free_port()
    public = f"https://localhost:{port}"
    (tmp_path / "workspace").mkdir()
    async with (
        identity_provider(node, f"{public}/hub/callback") as issuer,
        serve([Reply("Signed in.")]) as model,
        hub_of(
            tmp_path / "home",
            model,
            public_url=public,
            trusted_proxies=["127.0.0.1"],
            oidc={"issuer": issuer, "client_id": "hub"},
            rates={"sign_ins_per_minute": 100},
        ) as hub,
    ):
        await hub.add_user("anna", "--subject", "anna-42")
        await hub.start()
        async with proxy(tmp_path / "proxy", port, hub.process_port()) as trusted:
            yield hub, public, trusted


async def test_users_sign_in_and_are_served_through_a_proxy(tmp_path: Path, require_all: bool) -> None:
    async with signing_in(tmp_path, is_required=require_all) as (hub, public, trusted):
        async with httpx2.AsyncClient(verify=trusted, timeout=WAIT_S) as browser:
            assert 'rel="sign-in"' in (await browser.get(public)).text
            stranger = await sign_in(browser, f"{public}/hub/sign-in", "mallory")
            assert (stranger.status_code, "nobody has given you access" in stranger.text) == (403, True)
        async with httpx2.AsyncClient(verify=trusted, timeout=WAIT_S) as browser:
            begun = await browser.get(f"{public}/hub/sign-in")
            cookie = begun.headers["set-cookie"].lower()
            assert cookie.startswith("__host-hermes-sign-in=")
            assert {"secure", "httponly", "samesite=lax", "path=/"} <= set(cookie.split("; "))
            done = await sign_in(browser, f"{public}/hub/sign-in", "anna-42")
            page, _, fragment = done.headers["location"].partition("#token=")
            assert page == "/"
            assert done.headers["cache-control"] == "no-store"
            again = await browser.get(str(done.url))
            assert again.status_code == 401, "an answer of the provider is good for one sign-in"
        await use_and_leave(hub, trusted, public, fragment, tmp_path / "workspace")
        assert '"who":"anna"' in hub.audit()
        assert fragment not in hub.audit()


async def test_a_sign_in_is_for_the_browser_that_started_it(tmp_path: Path, require_all: bool) -> None:
    async with (
        signing_in(tmp_path, is_required=require_all) as (_, public, trusted),
        httpx2.AsyncClient(verify=trusted, timeout=WAIT_S) as attacker,
    ):
        begun = await attacker.get(f"{public}/hub/sign-in")
        state = parse_qs(urlsplit(begun.headers["location"]).query)["state"][0]
        forged = (
            {"code": "x", "state": state},
            {"code": "x", "state": state[:-1] + "?"},
            {"code": "x"},
            {"state": state},
            {"code": "x", "state": state, "iss": "https://evil.example"},
            {"error": "access_denied", "state": state},
            {"code": "x", "state": state, "redirect_uri": "https://evil.example"},
        )
        async with httpx2.AsyncClient(verify=trusted, timeout=WAIT_S) as victim:
            for each in forged:
                answer = await victim.get(f"{public}/hub/callback", params=each)
                assert answer.status_code == 401, each
            await victim.get(f"{public}/hub/sign-in")
            crossed = await victim.get(f"{public}/hub/callback", params={"code": "x", "state": state})
            assert crossed.status_code == 401, "the state belongs to another browser"
        guessed = await attacker.get(f"{public}/hub/callback", params={"code": "x", "state": state})
        assert guessed.status_code in (401, 503), "the provider knows no such code"
        assert "location" not in guessed.headers


async def test_a_user_signs_in_with_the_page_and_out_again(tmp_path: Path, require_all: bool) -> None:
    command = require_page(is_required=require_all)
    build_page(command)
    async with (
        signing_in(tmp_path, is_required=require_all) as (hub, public, trusted),
        async_playwright() as driver,
    ):
        mallory = await hub.add_user("mallory")
        chromium = await driver.chromium.launch(executable_path=command, args=ARGUMENTS)
        context = await chromium.new_context(ignore_https_errors=True)
        page = await context.new_page()
        page.set_default_timeout(WAIT_MS)
        await page.goto(f"{public}/#token={mallory}")
        leave = page.get_by_role("link", name="Sign in with your account")
        await leave.wait_for()
        assert mallory not in await page.evaluate("location.href + JSON.stringify(sessionStorage)")
        await leave.click()
        await page.locator('[name="login"]').fill("anna-42")
        await page.locator('[name="password"]').fill("x")
        await page.get_by_role("button").click()
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_role("button", name="New session").wait_for()
        secret = await page.evaluate("sessionStorage.getItem('hermes.token')")
        assert secret not in page.url
        await page.get_by_role("button", name="Sign out").click()
        await leave.wait_for()
        assert await page.evaluate("sessionStorage.getItem('hermes.token')") is None
        async with httpx2.AsyncClient(verify=trusted, timeout=WAIT_S) as http:
            refused = await http.post(f"{public}/acp", headers={"authorization": f"Bearer {secret}"})
            assert refused.status_code == 401
        assert '"what":"signed_out"' in hub.audit()
        await chromium.close()


async def use_and_leave(hub: Hub, trusted: ssl.SSLContext, public: str, secret: str, folder: Path) -> None:
    """Work in a session over both transports, sign out, and be rejected."""
    bearer = {"authorization": f"Bearer {secret}"}
    greeting: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": 1, "clientCapabilities": {}},
    }
    async with httpx2.AsyncClient(verify=trusted, timeout=WAIT_S, headers=bearer) as http:
        answer = await http.post(f"{public}/acp", json=greeting)
        assert answer.status_code == 200, answer.text
        address = f"wss://{urlsplit(public).netloc}/acp"
        async with http.websocket(address, max_message_size_bytes=1 << 20) as stream:
            await stream.send_json(greeting)
            assert (await stream.receive_json())["result"]["protocolVersion"] == 1
            opening: dict[str, Any] = {"cwd": str(folder), "mcpServers": []}
            await stream.send_json({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": opening})
            while (message := await stream.receive_json()).get("id") != 2:
                pass
            text = [{"type": "text", "text": "hello"}]
            prompt = {"sessionId": message["result"]["sessionId"], "prompt": text}
            await stream.send_json({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": prompt})
            said = ""
            while (message := await stream.receive_json()).get("id") != 3:
                update = message.get("params", {}).get("update", {})
                if update.get("sessionUpdate") == "agent_message_chunk":
                    said += update["content"]["text"]
            assert said == "Signed in."
        elsewhere = {"origin": "https://evil.example"}
        assert (await http.post(f"{public}/acp", json=greeting, headers=elsewhere)).status_code == 403
        async with http.websocket(address, max_message_size_bytes=1 << 20) as still_open:
            await still_open.send_json(greeting)
            assert (await still_open.receive_json())["result"]["protocolVersion"] == 1
            assert (await http.post(f"{public}/hub/sign-out")).status_code == 204
            with anyio.fail_after(WAIT_S), pytest.raises(WebSocketDisconnect):
                await still_open.receive()
        assert (await http.post(f"{public}/acp", json=greeting)).status_code == 401
        with pytest.raises(WebSocketUpgradeError):
            async with http.websocket(address):
                pass
    assert "signed_out" in hub.audit()
