"""Once messages are delivered, `gateway.db` and its files contain none of their texts."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from hermes_acp.frontends.gateway.gateway_process import platform_plugins
from hermes_acp.frontends.gateway.port.platform_port import PlatformError
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.inbox import Inbox
from hermes_acp.storage.gateway.notices import Notice, Notices
from hermes_acp.storage.gateway.outbox import Outbox, OutgoingPart
from tests.gateway.fake_platform import WAIT_S, FakePlugin, FakeServer
from tests.gateway.gateway_stage import gateway_stage
from tests.model_server import Reply, serve

pytestmark = pytest.mark.anyio
MARK = "needle-in-the-file"


def on_disk(home: Path) -> str:
    """Return the content of all files of the database."""
    files = [path for path in home.glob("gateway.db*") if path.is_file()]
    assert files
    return "".join(path.read_bytes().decode("latin-1") for path in files)


def part(number: int, text: str) -> OutgoingPart:
    return OutgoingPart(f"turn:{number}", "matrix", "room", f'{{"room": "{MARK}"}}', text)


async def test_questions_and_answers_are_deleted(tmp_path: Path) -> None:
    answer, refused = f"{MARK}-answer", f"{MARK}-refused"
    server = FakeServer()
    plugin = FakePlugin(server)
    async with (
        serve((Reply(answer), Reply(refused))) as model,
        gateway_stage(tmp_path, model, plugin=plugin) as stage,
    ):
        home, anna = stage.home / ".hermes", stage.direct("anna")
        await anna.send(f"{MARK}-question")
        await stage.server.see(answer)
        server.faults.append(PlatformError("no", is_permanent=True))
        await anna.send(f"{MARK}-second")

        outbox = stage.gateway.stores.outbox
        with anyio.fail_after(WAIT_S):
            while outbox.counts()["matrix"].get("failed") != 1:
                await anyio.sleep(0.02)
    assert MARK not in on_disk(home)


async def test_an_address_is_stored_only_until_its_message_is_answered(tmp_path: Path) -> None:
    for name in ("email", "irc", "twilio", "xmpp"):
        assert platform_plugins().open(name).limits.ids_are_personal
    plugin = FakePlugin(FakeServer(), ids_are_personal=True)
    async with serve((Reply("Hello."),)) as model, gateway_stage(tmp_path, model, plugin=plugin) as stage:
        home, anna = stage.home / ".hermes", stage.direct("anna")
        await anna.send("Hello")
        await stage.server.see("Hello.")
        outbox = stage.gateway.stores.outbox
        with anyio.fail_after(WAIT_S):
            while set(outbox.counts()["matrix"]) != {"delivered"}:
                await anyio.sleep(0.02)
    stored = on_disk(home)
    assert anna.sender not in stored
    assert anna.place.room not in stored


def test_texts_of_all_sizes_are_overwritten(tmp_path: Path) -> None:
    database = GatewayDatabase(tmp_path)
    outbox, inbox, notices = Outbox(database), Inbox(database), Notices(database)
    texts = [f"{MARK} " * (1 + number * 37 % 900) for number in range(60)]
    for number, text in enumerate(texts):
        entry = inbox.add("matrix", f"m{number}", "room", text, 0.0)
        assert entry is not None
        outbox.put(part(number, text[: len(text) // 2]), 0.0)
        inbox.finish(entry.number, [part(number, text)], 0.0)
        notice = Notice(f"n{number}", "anna", text, "", asks=False)
        notices.add(notice, 0.0)
        notices.take(notice, (), 0.0)
    for entry in outbox.unsent("matrix"):
        if entry.number % 3:
            outbox.delivered(entry.number, "x", entry.text, 0.0)
        else:
            outbox.fail(entry.number, "refused", 0.0)
    assert MARK in on_disk(tmp_path)
    outbox.erase(0.0)
    assert MARK not in on_disk(tmp_path)
    assert not (tmp_path / "gateway.db-wal").stat().st_size
    database.close()


def test_a_message_that_has_not_been_sent_yet_keeps_its_text(tmp_path: Path) -> None:
    database = GatewayDatabase(tmp_path)
    outbox = Outbox(database)
    outbox.put(part(1, "later"), 0.0)
    outbox.erase(1e12)
    assert [entry.text for entry in outbox.unsent("matrix")] == ["later"]
    database.close()
