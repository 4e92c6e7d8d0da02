"""Pages that try to trap, exhaust or bypass the browser."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.web_ports import BrowserAction
from hermes_acp.web.browser.browser_timeouts import BrowserTimeouts
from tests.attacks.browser_session import IS_THERE, Session, browsing
from tests.contract.web_server import PAUSE, WebServer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
UNENDING = b"HTTP/1.1 200 OK\r\ncontent-type: "
PLAIN = "<p>plain words</p>"
HASTY = BrowserTimeouts(load_ms=1_000, action_ms=1_000, settle_ms=500, shutdown_grace_s=1)


@pytest.fixture(autouse=True)
def chromium(require_all: bool) -> None:
    if not IS_THERE:
        assert not require_all, "Chromium is not installed"
        pytest.skip("Chromium is not installed")


async def is_free(server: WebServer, session: Session) -> bool:
    """Return whether the next page can be opened, whatever the last one was."""
    server.serve("/plain", PLAIN)
    view = await session.go(server.url("/plain", "localhost"))
    return "plain words" in view.text


async def test_a_page_that_resists_being_left_is_left() -> None:
    keep = "onbeforeunload = event => { event.preventDefault(); event.returnValue = 'stay' }"
    async with browsing() as (server, session):
        server.serve("/", f"<button>poke</button><script>{keep}</script>")
        view = await session.go(server.url("/", "localhost"))
        await session.click(view, 'button "poke"')
        assert await is_free(server, session)


@pytest.mark.parametrize(
    "page",
    [
        "<p>words</p><script>while (true);</script>",
        "<script>for (let n = 0; n < 40; n++) window.open('/plain')</script><p>many</p>",
        "<script>document.title = 'T'.repeat(40000000)</script><p>long</p>",
        "<script>history.pushState({}, '', '/?' + 'u'.repeat(1900000))</script><p>far</p>",
        "<script>window.close()</script>",
        "<script>print(); showOpenFilePicker(); document.documentElement.requestFullscreen()</script>",
        "<p>" + "<div>" * 30_000,
    ],
    ids=lambda page: page[:40],
)
async def test_a_page_that_exhausts_its_memory_blocks_nothing(page: str) -> None:
    async with browsing(timeouts=HASTY) as (server, session):
        server.serve("/", page)
        with anyio.fail_after(300):
            with suppress(WorkspaceError):  # On a slow machine, the browser times out, which is fine too.
                await session.go(server.url("/", "localhost"))
                await session.act(BrowserAction("screenshot"))
            assert await is_free(server, session)


async def test_an_endless_page_shows_what_has_arrived() -> None:
    async with browsing(timeouts=HASTY) as (server, session):
        server.answers["/"] = UNENDING + b"text/html\r\n\r\n<p>first words</p>" + b" " * 4096 + PAUSE
        server.answers["/events"] = UNENDING + b"text/event-stream\r\n\r\ndata: x\n\n" + PAUSE
        view = await session.go(server.url("/", "localhost"))
        assert "first words" in view.text
        assert any("still loading" in note for note in view.notes)
        await session.go(server.url("/events", "localhost"))
        assert await is_free(server, session)


async def test_a_page_that_crashes_affects_nothing_else() -> None:
    async with browsing() as (server, session):
        server.serve("/", PLAIN)
        view = await session.go(server.url("/", "localhost"))
        for pid in renderers():
            os.kill(pid, signal.SIGKILL)
        view = await session.look()
        assert "plain words" not in view.text
        assert await is_free(server, session)


async def test_a_private_page_is_only_accessible_to_its_own_host() -> None:
    """Another host's page arrives as a frame, by a link, by a redirect and in a tab; none of them succeeds."""
    async with browsing("127.0.0.1") as (server, session):
        session.allowed = {"127.0.0.1"}
        inside = server.url("/inside", "localhost")
        attack = (
            f"<img src='{inside}?img'><iframe src='{inside}?frame'></iframe>"
            f"<img src='/hop'><iframe src='/hop'></iframe>"
            f"<script>fetch('{inside}?fetch', {{mode: 'no-cors'}}); navigator.sendBeacon('{inside}?beacon', 'x');"
            f"fetch('/hop', {{mode: 'no-cors'}}); new WebSocket('{inside.replace('http', 'ws')}?socket');"
            f"new Worker(URL.createObjectURL(new Blob([`fetch('{inside}?worker', {{mode: 'no-cors'}})`])));"
            f"setTimeout(() => window.open('{inside}?tab'), 300)</script>"
            f"<form method=post action='{inside}?form' target=_blank></form><script>document.forms[0].submit()</script>"
        )
        server.serve("/attack", f"<title>there</title>{attack}")
        server.serve("/hop", "", f"location: {inside}?hop", status="302 Found")
        server.serve("/away", "", f"location: {server.url('/attack')}", status="302 Found")
        server.serve("/inside", "the inside")
        there = server.url("/attack")
        server.serve("/own.js", "p.textContent = 'own'", "content-type: text/javascript")
        server.serve(
            "/",
            f"<a href='{there}'>link</a><a href='/away'>away</a><a href='{there}' target=_blank>tab</a>"
            "<script src='/own.js' defer></script><p id=p></p>",
        )
        server.serve("/framed", f"<p>around</p><iframe src='{there}'></iframe>")
        for way in ("link", "away", "tab"):
            view = await session.go(server.url("/", "localhost"))
            assert "own" in view.text
            await session.click(view, f'link "{way}"')
            await session.look()
        await session.go(server.url("/framed", "localhost"))
        await session.look()
        assert [asked.path for asked in server.asked].count("/attack") == 4
        assert [asked.line for asked in server.asked if "/inside" in asked.path] == []


async def test_no_datagram_bypasses_the_proxy() -> None:
    async with (
        browsing() as (server, session),
        await anyio.create_udp_socket(local_host="127.0.0.1") as listener,
    ):
        port = listener.extra(SocketAttribute.local_port)
        server.serve(
            "/",
            f"<p>on</p><script>const c = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}},"
            f"{{urls: 'turn:127.0.0.1:{port}?transport=udp', username: 'u', credential: 'c'}}]}});"
            "c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o));"
            f"new WebTransport('https://127.0.0.1:{port}/x').ready.catch(() => 0)</script>",
        )
        await session.go(server.url("/", "localhost"))
        await session.look()
        with anyio.move_on_after(1):
            packet, _ = await listener.receive()
            raise AssertionError(f"{len(packet)} bytes came past the proxy")


async def test_sessions_share_no_cookie_and_no_password_is_shown() -> None:
    async with browsing() as (server, session):
        server.serve(
            "/",
            "<input type=password aria-label=P value='hunter2-dots'><p id=c></p>"
            "<input type=password aria-label='Q: x' value='hunter2: &quot;dots&quot; #'>"
            "<script>c.textContent = 'jar:' + document.cookie; document.cookie = 'who=first; max-age=900'</script>",
        )
        await session.go(server.url("/", "localhost"))
        again = await session.go(server.url("/", "localhost"))
        assert "jar:who=first" in again.text
        assert "hunter2" not in again.text
        assert again.text.count("[a password, not shown]") == 2
        other = session.beside("ses_2")
        try:
            assert "who=first" not in (await other.go(server.url("/", "localhost"))).text
        finally:
            await other.close()


async def test_no_permission_is_granted_to_a_page() -> None:
    asks = (
        "navigator.geolocation.getCurrentPosition(() => add('granted'), () => add('no'), {timeout: 500});"
        "Notification.requestPermission().then(r => add(r), () => add('no'));"
        "navigator.clipboard.readText().then(() => add('granted'), () => add('no'));"
        "navigator.mediaDevices.getUserMedia({audio: true}).then(() => add('granted'), () => add('no'));"
    )
    async with browsing() as (server, session):
        server.serve("/", f"<p id=p></p><script>const add = w => p.textContent += w + ' ';{asks}</script>")
        await session.go(server.url("/", "localhost"))
        view = await session.look()
        assert "no" in view.text
        assert "granted" not in view.text


def renderers() -> list[int]:
    """Return the renderer processes of this test's browser."""
    own = os.getpid()
    parents: dict[int, int] = {}
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if "--type=renderer" in (entry / "cmdline").read_bytes().decode("utf-8", "replace"):
                    found.append(int(entry.name))
            except OSError:
                continue

    def is_ours(pid: int) -> bool:
        while pid > 1:
            pid = parents.get(pid, 0)
            if pid == own:
                return True
        return False

    return [pid for pid in found if is_ours(pid)]
