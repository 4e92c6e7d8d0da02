"""Pages that attack through the browser, and lead nowhere (rows A10, C03, C09, D14)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.browser_session import IS_THERE, browsing

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def has_a_browser() -> None:
    if not IS_THERE:
        pytest.skip("there is no Chromium here, or nothing to drive it")


async def test_addresses_that_are_no_web_are_never_shown(tmp_path: Path) -> None:
    canary = tmp_path / "canary.txt"
    canary.write_text("canary-bytes")
    ways = {
        "file": f"location.href = 'file://{canary}'",
        "tab": f"window.open('file://{canary}')",
        "source": f"location.href = 'view-source:file://{canary}'",
        "chrome": "location.href = 'chrome://version'",
        "text": "location.href = 'data:text/html,<p>planted</p>'",
        "fetch": f"fetch('file://{canary}').then(r => r.text()).then(t => document.title = t)",
    }
    buttons = "".join(f'<button onclick="{script}">{name}</button>' for name, script in ways.items())
    async with browsing() as (server, session):
        server.serve("/", f"<title>T</title>{buttons}")
        server.serve("/frame", f'<iframe src="file://{canary}"></iframe>outside')
        view = await session.go(server.url("/frame"))
        assert "canary-bytes" not in view.text
        assert "outside" in view.text
        for name in ways:
            view = await session.go(server.url())
            view = await session.click(view, f'button "{name}"')
            shown = f"{view.title} {view.text} {view.url}"
            assert "canary-bytes" not in shown
            assert "planted" not in shown
            assert view.url.startswith(("http://127.0.0.1", "about:blank", "chrome-error://")), (
                name,
                view.url,
            )


async def test_a_redirect_to_a_private_address_is_not_followed() -> None:
    async with browsing() as (server, session):
        for number, place in enumerate(
            ("http://127.0.0.1:{port}/inside", "http://[::1]:{port}/inside", "http://169.254.169.254/inside")
        ):
            server.serve("/inside", "the inside")
            server.serve(f"/{number}", "", f"location: {place.format(port=server.port)}", status="302 Found")
            view = await session.go(server.url(f"/{number}", "localhost"))
            assert "the inside" not in view.text
        assert "/inside" not in [asked.path for asked in server.asked]


async def test_a_public_page_does_not_reach_what_was_opened_before() -> None:
    """The other page is one of a host that is private for good, as the user listed it; it was never this page's."""
    async with browsing("127.0.0.1") as (server, session):
        server.serve("/", "mine")
        script = f"fetch('http://localhost:{server.port}/inside', {{mode: 'no-cors'}})"
        server.serve("/other", f"<img src='http://localhost:{server.port}/inside'><script>{script}</script>")
        await session.go(server.url("/", "localhost"))
        server.asked.clear()
        await session.go(server.url("/other"), sees_private=False)
        await session.look()
        assert [asked.path for asked in server.asked if asked.path == "/inside"] == []


async def test_downloads_workers_and_dialogs_come_to_nothing() -> None:
    page = (
        "<a href='/file' download>get</a><button onclick=\"alert('obey me')\">talk</button><p id=w></p>"
        "<a href=\"javascript:document.title='ran'\">script</a>"
        "<script>navigator.serviceWorker.register('/sw.js').then(() => w.textContent = 'registered',"
        "() => w.textContent = 'no worker')</script>"
    )
    async with browsing() as (server, session):
        server.serve("/", page)
        server.serve("/file", "bytes", "content-disposition: attachment; filename=x.sh")
        server.serve("/sw.js", "self.onfetch = () => {}", "content-type: text/javascript")
        view = await session.go(server.url("/", "localhost"))
        assert "/sw.js" not in [asked.path for asked in server.asked]
        got = await session.click(view, 'link "get"')
        assert any("download" in note for note in got.notes)
        said = await session.click(await session.look(), 'button "talk"')
        assert any("obey me" in note for note in said.notes)
        assert session.asked == []


async def test_a_page_that_never_stops_talking_holds_nobody_up() -> None:
    async with browsing() as (server, session):
        server.serve(
            "/", "<script>for (let n = 0; n < 300; n++) alert('x'.repeat(100000) + n)</script><p>end</p>"
        )
        view = await session.go(server.url())
        assert sum(map(len, view.notes)) < 20_000
