"""The web page as people use it: in a real Chromium, with a real server and a scripted model."""

from __future__ import annotations

import base64
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.e2e.cut_relay import relaying
from tests.e2e.http_serving import TOKEN
from tests.e2e.web_page import ask, require_page, visiting
from tests.model_server import Hold, Reply, ToolCall

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

READ = ToolCall("read_file", {"path": "a.py"})
EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})


@pytest.fixture
def browser(require_all: bool) -> str:
    return require_page(is_required=require_all)


async def test_an_edit_is_approved_with_two_pages_open_and_the_token_leaves_no_trace(
    tmp_path: Path, browser: str
) -> None:
    replies = (Reply("I will.", tool_calls=(READ, EDIT)), Reply("Done as asked."))
    async with visiting(tmp_path, browser, *replies) as visit:
        page = await visit.begin()
        assert page.url == visit.address
        assert TOKEN not in str(await page.evaluate("[location.href, document.referrer, history.state]"))
        await ask(page, "change a.py")
        question = page.get_by_role("group", name="Hermes asks")
        await page.locator(".line.come", has_text="x = 5").wait_for()
        other = await visit.open()
        await other.get_by_role("button", name="Past sessions").first.click()
        await other.locator(".past-open").click()
        await other.get_by_role("button", name="Allow once").wait_for()
        await question.get_by_role("button", name="Allow once").click()
        await page.get_by_text("Done as asked.").wait_for()
        await other.get_by_text("Allowed in another client: Hermes web page").wait_for()
        await other.get_by_text("Done as asked.").wait_for()
        await other.get_by_role("button", name="Stop").wait_for(state="detached")
        assert await other.get_by_role("button", name="Accept").count() == 0
        assert (visit.workspace / "a.py").read_text() == "x = 5\ny = 2\nz = 3\n"
        assert visit.complaints == []


async def test_admission_to_the_page_and_its_confinement(tmp_path: Path, browser: str) -> None:
    async with visiting(tmp_path, browser) as visit, httpx2.AsyncClient() as http:
        another = await visit.context.new_page()
        await another.goto("data:text/html,<title>another</title>")
        token = base64.urlsafe_b64encode(TOKEN.encode()).decode().rstrip("=")
        address = visit.server.url.replace("http", "ws")
        opened = await another.evaluate(
            """([address, token]) => new Promise((resolve) => {
                const socket = new WebSocket(address, ["acp", `base64url.bearer.${token}`]);
                socket.onopen = () => resolve(true);
                socket.onclose = () => resolve(false);
            })""",
            [address, token],
        )
        assert opened is False
        assert (await http.get(visit.address, headers={"host": "evil.example"})).status_code == 421
        answer = await http.get(visit.address)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert (await http.get(visit.address)).headers["content-security-policy"] != policy
        page = await visit.open(token="")
        await page.get_by_label("Token").fill("not-the-token-0123456789")
        await page.get_by_role("button", name="Connect").click()
        await page.get_by_role("alert").get_by_text("does not accept").wait_for()
        await page.get_by_label("Token").fill(TOKEN)
        await page.get_by_role("button", name="Connect").click()
        await page.get_by_role("button", name="New session").wait_for()


async def test_a_reload_during_a_turn_shows_the_turn_and_its_question_again(
    tmp_path: Path, browser: str
) -> None:
    gate = anyio.Event()
    slow = Reply(("Words before. ", "Words behind."), holds=(Hold(gate, after=1),))
    replies = (slow, Reply("Next.", tool_calls=(READ, EDIT)), Reply("All done."))
    async with visiting(tmp_path, browser, *replies) as visit:
        page = await visit.begin()
        await ask(page, "say something")
        await page.get_by_text("Words before.").wait_for()
        await page.reload()
        await page.get_by_text("Words before.").wait_for()
        await page.get_by_role("button", name="Stop").wait_for()
        gate.set()
        await page.get_by_text("Words before. Words behind.").wait_for()
        await page.get_by_role("button", name="Stop").wait_for(state="detached")
        await ask(page, "change a.py")
        await page.get_by_role("button", name="Allow once").wait_for()
        await page.reload()
        await page.get_by_role("button", name="Allow once").wait_for()
        await page.keyboard.press("Control+Alt+Enter")
        await page.get_by_text("All done.").wait_for()
        await page.get_by_role("button", name="Undo").wait_for()
        assert await page.get_by_text("change a.py", exact=True).count() == 1
        assert (visit.workspace / "a.py").read_text().startswith("x = 5")


async def test_a_socket_cut_during_a_turn_loses_and_duplicates_nothing(tmp_path: Path, browser: str) -> None:
    gates = [anyio.Event() for _ in range(3)]
    words = tuple(f"piece-{number} " for number in range(40))
    holds = tuple(Hold(gate, after=10 * (at + 1)) for at, gate in enumerate(gates))
    replies = (Reply(words, holds=holds), Reply("Again.", tool_calls=(READ, EDIT)), Reply("All done."))
    async with (
        visiting(tmp_path, browser, *replies) as visit,
        relaying(int(visit.address.rstrip("/").rpartition(":")[2])) as relay,
    ):
        visit.address = f"http://127.0.0.1:{relay.port}/"
        page = await visit.begin()
        await ask(page, "count")
        for at, gate in enumerate(gates):
            await page.get_by_text(f"piece-{10 * at + 9}").wait_for()
            relay.cut()
            gate.set()
            await page.get_by_text("Not connected").wait_for()
            relay.mend()
            await page.get_by_text("Not connected").wait_for(state="detached")
        await page.get_by_text(" ".join(f"piece-{number}" for number in range(40))).wait_for()
        await ask(page, "change a.py")
        await page.get_by_role("button", name="Allow once").wait_for()
        relay.cut()
        await page.get_by_text("Not connected").wait_for()
        await page.get_by_role("button", name="Allow once").click()
        relay.mend()
        await page.get_by_text("All done.").wait_for()
        assert (visit.workspace / "a.py").read_text() == "x = 5\ny = 2\nz = 3\n"
