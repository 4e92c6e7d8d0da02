"""Browser actions besides clicking and typing, in a real Chromium on a test site."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

import anyio
import pytest

from hermes_acp.core.ports.web_ports import BrowserAction, BrowserFile, BrowserSnapshot
from hermes_acp.web.browser.browser_timeouts import BrowserTimeouts
from tests.attacks.browser_session import IS_THERE, Session, browsing
from tests.contract.web_server import WebServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(not IS_THERE, reason="Chromium or its driver is missing"),
]
FORM: Final = """<title>Form</title><p id=o>nothing</p>
<label>Colour
<select onchange="o.textContent='chose '+this.value"><option value=r>Red<option value=g>Green</select></label>
<button onmouseover="o.textContent='pointed at'">Menu</button>
<input aria-label=Search onkeydown="if (event.key === 'Enter') o.textContent='searched '+this.value">
<button onclick="setTimeout(() => { o.textContent='ready' }, 300)">Work</button>
<button onclick="setTimeout(() => { o.remove() }, 300)">Leave</button>
<script>document.addEventListener('keydown', e => { if (e.key === 'Escape') o.textContent='escaped' })</script>"""
LONG: Final = """<title>Long</title><div style="height:4000px">top</div><button>Last</button>
<div role=list aria-label=Inner style="height:100px;overflow:auto"><div style="height:900px">inner</div></div>
<script>addEventListener('scroll', () => { if (scrollY > 2000 && !document.getElementById('m'))
document.body.insertAdjacentHTML('beforeend', '<p id=m>loaded later</p>') })</script>"""
UPLOADS: Final = """<title>Uploads</title><p id=o>nothing</p>
<script>function show(field) { const f = field.files[0];
f.text().then(t => { o.textContent = `${f.name}: ${t}` }) }</script>
<input type=file aria-label=Plain onchange=show(this)>
<input type=file id=h style="display:none" onchange=show(this)><button onclick=h.click()>Choose</button>
<button>Idle</button><iframe src="http://127.0.0.1:PORT/frame"></iframe>"""
FILES: Final = """<title>Files</title><a href=/data download>Data</a><a href=/data target=_blank download>Beside</a>
<a href=/evil>Evil</a><a href=/broken>Broken</a><button>Idle</button>
<a id=b download=made.txt>Made</a><script>b.href = URL.createObjectURL(new Blob(['made here']))</script>"""


@pytest.fixture
def timeouts() -> BrowserTimeouts:
    return BrowserTimeouts()


@pytest.fixture
async def site(timeouts: BrowserTimeouts) -> AsyncGenerator[tuple[WebServer, Session]]:
    async with browsing("127.0.0.1", timeouts=timeouts) as (server, session):
        server.serve("/", FORM)
        server.serve("/long", LONG)
        server.serve("/uploads", UPLOADS.replace("PORT", str(server.port)))
        server.serve("/frame", "<input type=file aria-label=Framed>")
        server.serve("/files", FILES)
        server.serve("/data", b"PK\0\1", "content-type: application/zip")
        name = 'content-disposition: attachment; filename="../../x"'
        server.serve("/evil", "evil", name, "content-type: application/octet-stream")
        server.answers["/broken"] = (
            b"HTTP/1.1 200 OK\r\ncontent-type: application/zip\r\ncontent-length: 9\r\n\r\nPK"
        )
        server.serve("/tabs", "<title>Tabs</title><a href=/two target=_blank>Open</a>")
        server.serve("/two", "<title>Two</title>second")
        with anyio.fail_after(80):
            yield server, session


async def go(server: WebServer, session: Session, path: str = "/") -> BrowserSnapshot:
    return await session.go(server.url(path, "localhost"))


def ref_in(view: BrowserSnapshot, words: str) -> str:
    line = next(line for line in view.text.split("\n") if words in line)
    return line.partition("[ref=")[2].partition("]")[0]


async def test_keys_pointer_and_choices_reach_the_page(site: tuple[WebServer, Session]) -> None:
    server, session = site
    view = await go(server, session)
    view = await session.act(BrowserAction("select", ref=ref_in(view, "combobox"), text="Green"))
    assert "chose g" in view.text
    view = await session.act(BrowserAction("hover", ref=ref_in(view, "Menu")))
    assert "pointed at" in view.text
    view = await session.act(BrowserAction("type", ref=ref_in(view, "Search"), text="tea"))
    view = await session.act(BrowserAction("press", ref=ref_in(view, "Search"), key="Enter"))
    assert "searched tea" in view.text
    view = await session.act(BrowserAction("press", key="Escape"))
    assert "escaped" in view.text
    view = await session.act(BrowserAction("press", key="NoSuchKey"))
    assert "Unknown key" in view.trouble
    view = await session.look()
    view = await session.act(BrowserAction("select", ref=ref_in(view, "Menu"), text="Green"))
    assert "not a <select>" in view.trouble


async def test_waiting_for_a_text_to_appear_or_disappear(site: tuple[WebServer, Session]) -> None:
    server, session = site
    view = await go(server, session)
    view = await session.click(view, '"Work"')
    view = await session.act(BrowserAction("wait_for", text="ready", seconds=20))
    assert "ready" in view.text
    view = await session.click(view, '"Leave"')
    view = await session.act(BrowserAction("wait_gone", text="ready", seconds=20))
    assert "ready" not in view.text
    view = await session.act(BrowserAction("wait_for", text="ready", seconds=0.2))
    assert view.trouble == "After 0.2 s, the text is not on the page."


async def test_a_page_and_its_elements_are_scrolled(site: tuple[WebServer, Session]) -> None:
    server, session = site
    view = await go(server, session, "/long")
    inner = ref_in(view, "Inner")
    view = await session.act(BrowserAction("scroll", text="down"))
    assert view.notes == (f"Pixels 640 to 1,440 of {height_in(view)} are in view.",)
    view = await session.act(BrowserAction("scroll", text="bottom"))
    view = await session.act(BrowserAction("wait_for", text="loaded later", seconds=20))
    assert "loaded later" in view.text
    view = await session.act(BrowserAction("scroll", ref=inner, text="down"))
    assert view.notes == ("Pixels 80 to 180 of 900 are in view.",)
    view = await session.act(BrowserAction("scroll", text="top"))
    assert view.notes[0].startswith("Pixels 0 to 800 of ")
    view = await session.act(BrowserAction("scroll", ref=ref_in(view, "Last")))
    assert view.trouble == ""


def height_in(view: BrowserSnapshot) -> str:
    return view.notes[0].partition(" of ")[2].partition(" are ")[0]


async def test_tabs_are_listed_shown_and_closed(site: tuple[WebServer, Session]) -> None:
    server, session = site
    view = await go(server, session, "/tabs")
    view = await session.click(view, '"Open"')
    while view.title != "Two":  # The tab may open only after the click has returned.
        view = await session.look()
    first, second = server.url("/tabs", "localhost"), server.url("/two", "localhost")
    view = await session.act(BrowserAction("tabs"))
    assert view.notes == (f"Tab 1: {first}", f"Tab 2, shown here: {second}")
    view = await session.act(BrowserAction("tabs", tab=1))
    assert view.title == "Tabs"
    view = await session.act(BrowserAction("tabs", tab=3))
    assert view.trouble == "There is no tab 3; the last is 2."
    view = await session.act(BrowserAction("close_tab", tab=1))
    assert (view.title, view.notes) == ("Two", (f"Tab 1, shown here: {second}",))
    view = await session.act(BrowserAction("close_tab", tab=1))
    assert view.url == "about:blank"


@pytest.mark.parametrize("timeouts", [BrowserTimeouts(chooser_ms=3_000)], ids=["hasty"])
async def test_files_are_uploaded_to_fields_and_to_buttons_that_ask(site: tuple[WebServer, Session]) -> None:
    server, session = site
    view = await go(server, session, "/uploads")
    file = BrowserFile("report.txt", b"figures")
    for words, content in (('"Plain"', b"figures"), ('"Choose"', b"others")):
        upload = BrowserAction(
            "upload", ref=ref_in(view, words), host="localhost", file=BrowserFile("r.txt", content)
        )
        view = await session.act(upload)
        view = await session.act(BrowserAction("wait_for", text=content.decode(), seconds=20))
        assert f"r.txt: {content.decode()}" in view.text
    view = await session.act(BrowserAction("upload", ref=ref_in(view, '"Idle"'), host="localhost", file=file))
    assert "Timeout" in view.trouble


async def test_a_file_is_uploaded_only_to_the_named_host(site: tuple[WebServer, Session]) -> None:
    """The frame belongs to another host: its scripts would get the file, whatever page is around it."""
    server, session = site
    view = await go(server, session, "/uploads")
    file = BrowserFile("report.txt", b"figures")
    for words, host in (('"Plain"', "127.0.0.1"), ('"Framed"', "localhost"), ('"Choose"', "a.test")):
        view = await session.act(BrowserAction("upload", ref=ref_in(view, words), host=host, file=file))
        assert f"not to {host}: nothing was uploaded." in view.trouble
        view = await session.look()
    assert "nothing" in view.text
    framed = BrowserAction("upload", ref=ref_in(view, '"Framed"'), host="127.0.0.1", file=file)
    assert (await session.act(framed)).trouble == ""


async def test_a_requested_download_is_saved(
    site: tuple[WebServer, Session],
) -> None:
    server, session = site
    view = await go(server, session, "/files")
    offers = {
        '"Data"': ("data.zip", b"PK\0\1"),
        '"Beside"': ("data.zip", b"PK\0\1"),
        '"Made"': ("made.txt", b"made here"),
    }
    for words, (name, content) in offers.items():
        got = await session.act(BrowserAction("download", ref=ref_in(view, words)))
        assert got.download == BrowserFile(name, content), words
        view = await session.look()
    got = await session.act(BrowserAction("download", ref=ref_in(view, '"Evil"')))
    assert got.download
    assert got.download.content == b"evil"
    assert "/" not in got.download.name
    view = await session.look()
    got = await session.act(BrowserAction("download", ref=ref_in(view, '"Broken"')))
    assert got.download is None
    assert got.trouble.startswith("The download of broken.zip failed")


@pytest.mark.parametrize("timeouts", [BrowserTimeouts(offer_ms=500)], ids=["hasty"])
async def test_a_missing_download_is_an_error(site: tuple[WebServer, Session]) -> None:
    server, session = site
    view = await go(server, session, "/files")
    got = await session.act(BrowserAction("download", ref=ref_in(view, '"Idle"')))
    assert got.trouble == "The page did not offer a file for download."
    view = await session.look()
    view = await session.click(view, '"Data"')
    while not view.notes:  # The offer may arrive only after the click has returned.
        view = await session.look()
    assert view.notes == ("The page offered a download of data.zip, which was refused.",)
