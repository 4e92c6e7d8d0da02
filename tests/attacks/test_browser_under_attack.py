"""Pages that attack through the browser, without success."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.ports.web_ports import BrowserAction, BrowserSnapshot
from hermes_acp.web.browser.browser_timeouts import BrowserTimeouts
from tests.attacks.browser_session import IS_THERE, Session, browsing

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def has_a_browser() -> None:
    if not IS_THERE:
        pytest.skip("Chromium or its driver is missing")


async def test_non_web_addresses_are_never_shown(tmp_path: Path) -> None:
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


async def test_a_public_page_cannot_reach_a_page_opened_before() -> None:
    """The other page is on a host that the user listed as private permanently; it never belonged to this page."""
    async with browsing("127.0.0.1") as (server, session):
        server.serve("/", "mine")
        script = f"fetch('http://localhost:{server.port}/inside', {{mode: 'no-cors'}})"
        server.serve("/other", f"<img src='http://localhost:{server.port}/inside'><script>{script}</script>")
        await session.go(server.url("/", "localhost"))
        server.asked.clear()
        await session.go(server.url("/other"), sees_private=False)
        await session.look()
        assert [asked.path for asked in server.asked if asked.path == "/inside"] == []


async def test_downloads_workers_and_dialogs_have_no_effect() -> None:
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


async def test_a_page_that_never_stops_logging_blocks_nothing() -> None:
    async with browsing() as (server, session):
        server.serve(
            "/", "<script>for (let n = 0; n < 300; n++) alert('x'.repeat(100000) + n)</script><p>end</p>"
        )
        view = await session.go(server.url())
        assert sum(map(len, view.notes)) < 20_000


async def until(
    session: Session, view: BrowserSnapshot, is_seen: Callable[[BrowserSnapshot], bool]
) -> BrowserSnapshot:
    """Wait until a click has had an effect on a page."""
    with anyio.fail_after(60):
        while not is_seen(view):
            view = await session.look()
    return view


async def test_a_page_that_opens_a_hundred_tabs_gets_few_and_the_browser_stays_usable() -> None:
    script = "for (let n = 0; n < 100; n++) window.open('/other?' + n)"
    async with browsing() as (server, session):
        server.serve("/", f'<title>T</title><button onclick="{script}">flood</button>')
        server.serve("/other", "<title>O</title>other")
        view = await session.go(server.url())
        view = await session.click(view, 'button "flood"')
        view = await until(session, view, lambda seen: any("more than 8 tabs" in note for note in seen.notes))
        tabs = await session.act(BrowserAction("tabs"))
        assert len([note for note in tabs.notes if note.startswith("Tab ")]) == 8
        assert (await session.go(server.url())).title == "T"


async def test_tabs_of_hosts_that_are_not_allowed_show_nothing() -> None:
    async with browsing("127.0.0.1") as (server, session):
        server.serve("/other", "<title>O</title>the inside")
        script = f"for (let n = 0; n < 5; n++) window.open('{server.url('/other')}?' + n)"
        server.serve("/", f'<title>T</title><button onclick="{script}">flood</button>')
        view = await session.go(server.url("/", "localhost"))
        await until(session, await session.click(view, 'button "flood"'), lambda _: bool(session.asked))
        for tab in range(1, 9):
            view = await session.act(BrowserAction("tabs", tab=tab))
            assert "the inside" not in view.text
        assert "/other" not in {asked.path.partition("?")[0] for asked in server.asked}


async def test_downloads_that_a_page_starts_itself_leave_nothing() -> None:
    """One download is named as a path outside; while another is requested, only the first one offered counts."""
    script = "for (let n = 0; n < 30; n++) { a.href = '/file?' + n; a.click() }"
    page = f"<title>T</title><a id=a download='../../x'>get</a><button onclick=\"{script}\">flood</button>"
    async with browsing() as (server, session):
        server.serve("/", page)
        server.serve("/file", "bytes", "content-disposition: attachment; filename=../../x")
        view = await session.go(server.url())
        view = await session.click(view, 'button "flood"')
        view = await until(session, view, lambda seen: any("refused" in note for note in seen.notes))
        assert view.download is None
        assert "../" not in " ".join(view.notes)
        view = await session.go(server.url())
        line = next(line for line in view.text.split("\n") if 'button "flood"' in line)
        ref = line.partition("[ref=")[2].partition("]")[0]
        got = await session.act(BrowserAction("download", ref=ref))
        assert got.download
        assert got.download.content == b"bytes"
        assert "/" not in got.download.name
        assert (await session.go(server.url())).title == "T"


async def test_a_page_that_asks_for_a_file_gets_none() -> None:
    page = (
        "<title>T</title><input type=file id=f style='display:none' oninput=\"document.title='got'\">"
        '<button onclick="f.click()">ask</button><script>onclick = () => f.showPicker()</script>'
    )
    async with browsing() as (server, session):
        server.serve("/", page)
        view = await session.go(server.url())
        view = await session.click(view, 'button "ask"')
        view = await until(session, view, lambda seen: bool(seen.notes))
        assert view.notes == ("The page asked for a file and got none.",)
        assert (await session.look()).title == "T"


async def test_a_download_from_another_host_needs_approval_first() -> None:
    async with browsing("127.0.0.1", timeouts=BrowserTimeouts(offer_ms=2_000)) as (server, session):
        server.serve("/file", "bytes", "content-disposition: attachment; filename=x")
        server.serve("/", f"<a href='{server.url('/file')}'>get</a>")
        view = await session.go(server.url("/", "localhost"))
        line = next(line for line in view.text.split("\n") if 'link "get"' in line)
        ref = line.partition("[ref=")[2].partition("]")[0]
        got = await session.act(BrowserAction("download", ref=ref))
        assert got.download is None
        assert session.asked == [server.url("/file")]
        assert "/file" not in [asked.path for asked in server.asked]
