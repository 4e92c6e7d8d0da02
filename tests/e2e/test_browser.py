"""The browser tools, with a real Chromium if one is installed, and a web server of the test."""

import os
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.web_ports import BrowserAction, BrowserSnapshot
from hermes_acp.web.browser.browser_pool import BrowserPool
from hermes_acp.web.browser.browser_timeouts import BrowserTimeouts
from tests.chromium import chromium, whole_chromium
from tests.contract.web_server import WebServer, web_server

CHROMIUM = chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium or playwright is missing"),
]
SECRET = "BROWSER_SECRET"
SHOP = """<title>Shop</title><h1>Hello</h1><input aria-label=Name id=n>
<button onclick="document.getElementById('o').textContent='Hi '+document.getElementById('n').value">Greet</button>
<p id=o></p><button onclick="alert('Buy')">Alert</button><a href="/file" download>File</a>
<a href="http://127.0.0.1:PORT/elsewhere">Elsewhere</a><a href="/two" target=_blank>Tab</a>
<img src="http://127.0.0.1:PORT/picture"><img src="http://169.254.169.254/latest/meta-data">
<script>fetch('http://127.0.0.1:PORT/fetched', {mode: 'no-cors'})</script>"""


class Visit:
    """One session's browser and its web server; `asked` contains the hosts that it wanted to contact."""

    def __init__(self, program: str, server: WebServer) -> None:
        variables = {**os.environ, SECRET: "1"}
        timeouts = BrowserTimeouts(shutdown_grace_s=1)
        self.server = server
        self.browsers = BrowserPool(program, frozenset(), variables, timeouts)
        self.asked: list[str] = []
        self.allowed: set[str] = set()
        self.refs: dict[str, str] = {}

    def _may(self, host: str, url: str) -> bool:
        self.asked.append(url)
        return host in self.allowed

    async def act(self, act: BrowserAction) -> BrowserSnapshot:
        view = await self.browsers.act("ses", act, self._may)
        self.refs = {m[1]: m[2] for m in re.finditer(r'"([^"\n]+)"[^\n]*\[ref=(\w+)\]', view.text)}
        return view

    async def go(self, path: str) -> BrowserSnapshot:
        url = self.server.url(path, "localhost")
        return await self.act(BrowserAction("navigate", url=url, sees_private=True))

    async def click(self, name: str) -> BrowserSnapshot:
        return await self.act(BrowserAction("click", ref=self.refs[name]))

    def paths(self) -> list[str]:
        return [asked.path for asked in self.server.asked]


@pytest.fixture
def program() -> str:
    assert CHROMIUM
    return CHROMIUM


@pytest.fixture
async def visit(program: str) -> AsyncGenerator[Visit]:
    async with web_server() as server:
        server.serve("/", SHOP.replace("PORT", str(server.port)))
        server.serve("/two", "<title>Two</title><p>second</p>")
        server.serve("/elsewhere", "<title>There</title><p>elsewhere</p>")
        server.serve("/away", "", f"location: {server.url('/elsewhere')}", status="302 Found")
        server.serve("/file", b"PK", "content-type: application/zip")
        visit = Visit(program, server)
        with anyio.fail_after(60):
            yield visit
            await visit.browsers.release("ses")


@pytest.mark.parametrize(
    "program",
    sorted({each for each in (CHROMIUM, whole_chromium()) if each}),
    ids=lambda program: Path(program).name,
)
async def test_a_page_is_used_as_a_user_would(visit: Visit) -> None:
    view = await visit.go("/")
    assert (view.title, view.url) == ("Shop", visit.server.url("/", "localhost"))
    assert 'heading "Hello"' in view.text
    await visit.act(BrowserAction("type", ref=visit.refs["Name"], text="Ann"))
    view = await visit.click("Greet")
    assert "Hi Ann" in view.text
    view = await visit.click("Alert")
    assert view.notes == ("The page showed a message (alert), which was dismissed: Buy",)
    picture = await visit.act(BrowserAction("screenshot"))
    assert picture.image.startswith(b"\x89PNG")
    await visit.act(BrowserAction("snapshot"))
    view = await visit.click("File")
    assert view.notes == ("The page offered a download of file.zip, which was refused.",)
    view = await visit.click("Tab")
    while view.title != "Two":  # A browser opens a tab when it gets to it.
        view = await visit.act(BrowserAction("snapshot"))
    view = await visit.go("/")
    view = await visit.go("/two")
    view = await visit.act(BrowserAction("back"))
    assert view.title == "Shop"


async def test_a_page_reaches_no_host_that_was_not_allowed(visit: Visit) -> None:
    """Images and scripts do not reach this machine; links and redirects reach no other host."""
    view = await visit.go("/")
    assert {note.split(" leads to ")[0] for note in view.notes} == {"127.0.0.1", "169.254.169.254"}
    view = await visit.click("Elsewhere")
    assert view.title == "Shop"
    assert visit.asked == [visit.server.url("/elsewhere")]
    assert "127.0.0.1 is not allowed" in view.notes[-1]
    view = await visit.go("/away")
    assert "not on the public network" in view.trouble + " ".join(view.notes)
    assert {"/elsewhere", "/picture", "/fetched"}.isdisjoint(visit.paths())


async def test_an_allowed_host_is_opened(program: str, visit: Visit) -> None:
    visit.browsers = BrowserPool(program, frozenset({"127.0.0.1"}), {})
    visit.allowed.add("127.0.0.1")
    await visit.go("/")
    view = await visit.click("Elsewhere")
    assert (view.title, visit.asked) == ("There", [visit.server.url("/elsewhere")])
    await visit.browsers.release("ses")
    visit.allowed.clear()
    view = await visit.go("/away")
    assert (view.url, view.title) == ("about:blank", "")
    assert "127.0.0.1 is not allowed" in view.notes[-1]


async def test_a_private_address_is_opened_only_by_its_own_name(visit: Visit) -> None:
    url = visit.server.url("/", "localhost")
    view = await visit.act(BrowserAction("navigate", url=url))
    assert re.search(r"localhost leads to .* refused", view.trouble + " ".join(view.notes))
    assert visit.paths() == []


async def test_the_browser_has_no_secret_and_leaves_nothing(visit: Visit) -> None:
    with pytest.raises(WorkspaceError, match="No page is open"):
        await visit.act(BrowserAction("snapshot"))
    await visit.go("/two")
    assert "no element e99" in (await visit.act(BrowserAction("click", ref="e99"))).trouble
    (home,) = homes()
    ours = [place for place in processes() if os.fsencode(home) in environment_of(place)]
    assert len(ours) >= 3
    assert all(SECRET.encode() not in environment_of(place) for place in ours)
    await visit.browsers.release("ses")
    assert not home.exists()
    with anyio.fail_after(60):
        while any(os.fsencode(home) in environment_of(place) for place in ours):
            await anyio.sleep(0.05)


async def test_a_cancel_closes_the_browser_and_the_next_page_opens_another(visit: Visit) -> None:
    visit.server.answers["/never"] = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<p>x\0pause\0"
    await visit.go("/two")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.go, "/never")
        while "/never" not in visit.paths():
            await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    with pytest.raises(WorkspaceError, match="No page is open"):
        await visit.act(BrowserAction("snapshot"))
    assert (await visit.go("/two")).title == "Two"


def homes() -> list[Path]:
    """Return the homes of the browsers that this process has started, or whose processes it has inherited."""
    pids = [
        pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()
    ]
    own = [
        re.search(rb"\bHOME=([^\0]*hermes-browser-\w+)", environment_of(Path("/proc") / pid)) for pid in pids
    ]
    return sorted({Path(os.fsdecode(found[1])) for found in own if found})


def processes() -> list[Path]:
    return [Path("/proc") / pid for pid in os.listdir("/proc") if pid.isdigit()]


def environment_of(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""
