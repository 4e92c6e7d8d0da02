"""Notices from the resident process: submitted any number of times, sent once; questions survive the gateway."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from hermes_acp.core.errors import NotificationError
from hermes_acp.core.ports.notification_ports import Destination, NotificationKind, OutgoingMessage
from hermes_acp.notifications.delivery_ledger import DeliveryLedger
from hermes_acp.notifications.services.gateway import SERVICE
from hermes_acp.storage.gateway.gateway_database import FILE, FIRST_FORMAT, GatewayDatabase
from hermes_acp.storage.gateway.notices import LIFETIME_S, Notice, Notices
from tests.contract.platform_notices import run_state
from tests.contract.platform_suite import ASKING
from tests.e2e.agent_process import agent_environment, configure, run_command
from tests.e2e.resident_process import resident
from tests.gateway.fake_platform import Post
from tests.gateway.gateway_stage import PLATFORM, ROOM, Stage, gateway_stage, make_home
from tests.model_server import Reply, ToolCall, serve

pytestmark = pytest.mark.anyio
ROOMS = [{"platform": PLATFORM, "id": ROOM.room}]
TO_ROOM = f"{PLATFORM}:{ROOM.room}"
NOTIFIED = json.dumps(
    {
        "notifications": {
            "targets": {"room": {"service": "gateway", "to": TO_ROOM, "events": ["input_required"]}}
        }
    }
)

DONE = NOTIFIED.replace("input_required", "done")


async def send(
    home: Path, to: str, *, id_: str = "n1", kind: NotificationKind = "done", wait_s: float = 30
) -> None:
    """Send as the resident process would."""
    message = OutgoingMessage("hermes-acp: Done: Tidy up", "All of it.", id_, kind)
    destination = Destination(home, to=to)
    await to_thread.run_sync(partial(SERVICE.send, destination, message, wait_s))


def gateway_home(stage: Stage) -> Path:
    return stage.home / ".hermes"


async def test_a_notice_is_sent_once_however_often_it_is_submitted(tmp_path: Path) -> None:
    async with serve((Reply("Hello."),)) as model, gateway_stage(tmp_path, model, rooms=ROOMS) as stage:
        for _ in range(2):
            await send(gateway_home(stage), TO_ROOM)
        await send(gateway_home(stage), TO_ROOM, id_="n2")
        assert [post.place for post in stage.server.with_text("Done: Tidy up")] == [ROOM, ROOM]
        with pytest.raises(NotificationError, match="not one of the rooms") as refused:
            await send(gateway_home(stage), f"{PLATFORM}:!other")
        assert not refused.value.retryable
        with pytest.raises(NotificationError, match="Nobody is admitted under the name eve"):
            await send(gateway_home(stage), "eve")
        with pytest.raises(NotificationError, match="anna must message the agent first"):
            await send(gateway_home(stage), "anna")
        await stage.direct("anna").send("Hello")
        await stage.server.see("Hello.")
        await send(gateway_home(stage), "anna")
        assert [post.place.is_direct for post in stage.server.with_text("Done: Tidy up")] == [
            False,
            False,
            True,
        ]


async def test_a_notice_waits_for_the_gateway(tmp_path: Path) -> None:
    (tmp_path / "home" / ".hermes").mkdir(parents=True)
    with pytest.raises(NotificationError, match="has not sent it yet") as late:
        await send(tmp_path / "home" / ".hermes", TO_ROOM, wait_s=0.1)
    assert late.value.retryable
    async with serve(()) as model, gateway_stage(tmp_path, model, rooms=ROOMS) as stage:
        await stage.server.see("Done: Tidy up")
        await send(gateway_home(stage), TO_ROOM)
        assert len(stage.server.posts) == 1


def test_an_old_notice_is_dropped_and_an_older_database_is_extended(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        for statement in FIRST_FORMAT:
            connection.execute(statement)
        connection.execute("INSERT INTO facts VALUES ('kept', 'yes')")
        connection.execute("PRAGMA user_version = 1")
    database = GatewayDatabase(tmp_path)
    notices, notice = Notices(database), Notice("n", "anna", "text")
    notices.add(notice, 0.0)
    assert notices.new(LIFETIME_S) == [notice]
    assert notices.new(LIFETIME_S + 1) == []
    assert notices.outcome(notice)[0] == "failed"
    notices.add(notice, LIFETIME_S)
    assert notices.outcome(notice)[0] == "waiting"
    assert database.fact("kept") == "yes"
    database.close()


@pytest.mark.slow
async def test_the_question_of_a_run_survives_the_gateway_and_no_answer(tmp_path: Path) -> None:
    home, project = make_home(tmp_path)
    configure(home, NOTIFIED)
    begin = partial(gateway_stage, tmp_path, config=NOTIFIED, rooms=ROOMS)
    async with serve(ASKING) as model:
        environment = agent_environment(home, model)
        async with resident(environment, project):
            async with begin(model) as stage:
                started = await run_command("runs", "start", "Write", environment=environment, cwd=project)
                first = await stage.in_room("anna").asked()
                assert stage.server.with_text("Waits for you: Write")
            async with begin(model, question_timeout_s=1.0) as stage:
                second = await stage.in_room("anna").asked()
                assert second.texts[0] != first.texts[0]  # Another code.
                assert not stage.server.with_text("Waits for you: Write")
                await stage.server.see("It can still be answered elsewhere")
            run = started.output.split()[0]
            shown = await run_command("runs", "show", run, "--json", environment=environment, cwd=project)
            assert json.loads(shown.output)["state"] == "input_required"
            await run_command("runs", "answer", run, "allow", environment=environment, cwd=project)
            await run_state(run, environment, project, "done")
    assert (project / "a.txt").exists()


@pytest.mark.slow
async def test_a_run_and_a_schedule_report_to_their_given_targets(tmp_path: Path) -> None:
    """Without targets in the settings, and with one that is then removed."""
    home, project = make_home(tmp_path)
    configure(home, "{}")
    replies = tuple(Reply(f"Answer {number}.") for number in range(4))
    async with serve(replies) as model:
        environment = agent_environment(home, model)

        async def command(*words: str, code: int = 0) -> str:
            done = await run_command(*words, environment=environment, cwd=project)
            assert done.code == code, done
            return done.output + done.errors

        async with (
            resident(environment, project),
            gateway_stage(tmp_path, model, config="{}", rooms=ROOMS) as stage,
        ):
            quiet = await command("runs", "start", "Quiet")
            await run_state(quiet.split()[0], environment, project, "done")
            await command("runs", "start", "Loud", "--deliver", TO_ROOM)
            await stage.server.see("Done: Loud")
            await command(
                "schedule", "add", "0 0 1 1 *", "-p", "Yearly", "--name", "yearly", "--deliver", TO_ROOM
            )
            await command("schedule", "run-now", "yearly")
            await stage.server.see("Done: Yearly")
            assert "anna carl" in await command("runs", "start", "x", "--deliver", "anna carl", code=2)
            assert len(stage.server.posts) == 2
        configure(home, DONE)
        async with (
            resident(environment, project),
            gateway_stage(tmp_path, model, config=DONE, rooms=ROOMS) as stage,
        ):
            await command("runs", "start", "For anna", "--deliver", "anna")
            ledger = DeliveryLedger(home / ".hermes")
            with anyio.fail_after(20):
                while not any(each.target == "gateway:anna" for each in ledger.deliveries()):
                    await anyio.sleep(0.05)
            assert [each.target for each in ledger.deliveries() if "For anna" in each.title] == [
                "gateway:anna"
            ]


@pytest.mark.slow
async def test_questions_follow_each_other_at_once(tmp_path: Path) -> None:
    home, project = make_home(tmp_path)
    configure(home, NOTIFIED)
    writes = [
        Reply(tool_calls=(ToolCall("write_file", {"path": name, "content": "x"}),))
        for name in ("a.txt", "b.txt")
    ]
    async with serve((*writes, Reply("Both."))) as model:
        environment = agent_environment(home, model)
        stage_of = gateway_stage(tmp_path, model, config=NOTIFIED, rooms=ROOMS)
        async with resident(environment, project), stage_of as stage:
            anna = stage.in_room("anna")
            started = await run_command("runs", "start", "Write", environment=environment, cwd=project)
            for name in ("a.txt", "b.txt"):

                def asked(name: str = name) -> list[Post]:
                    return [post for post in anna.posts() if post.choices and name in post.text]

                await stage.server.until(asked)
                while not (project / name).exists():
                    for post in asked():
                        await anna.press(post)
                    await anyio.sleep(0.1)
            await run_state(started.output.split()[0], environment, project, "done")
