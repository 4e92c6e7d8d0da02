"""Notifications reach real local services at least once, even if the service fails or the process is killed."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Mailbox

from hermes_acp.core.ports.notification_ports import Destination, Notification
from hermes_acp.notifications.delivery_ledger import BACKOFF_S, Delivery
from hermes_acp.notifications.message_texts import SENT_AGAIN, message_of
from hermes_acp.notifications.notification_service import (
    NotificationPlan,
    NotificationService,
    NotificationTarget,
    NotificationTimes,
)
from tests.unit.notifications.notification_receiver import Receiver, receiver

pytestmark = pytest.mark.anyio
KEY = "sk-verysecret-1234567890"
WAITING = Notification(
    "run_1:7",
    "input_required",
    "Update the dependencies",
    f"Approve `rm -rf build`? It deletes files. {KEY}",
    session_id="ses_1",
    run_id="run_1",
    answer_with="hermes-acp runs answer run_1",
)


class SettableClock:
    def __init__(self) -> None:
        self.time = 1_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


class Place:
    """A home with its targets and its own clock."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.clock = SettableClock()
        self.targets: list[NotificationTarget] = []
        self.times = NotificationTimes()

    def add(self, name: str, address: str, *kinds: Any) -> None:
        kinds = kinds or ("done", "failed", "input_required", "test")
        self.targets.append(
            NotificationTarget(name, "apprise", Destination(self.home, address), frozenset(kinds))
        )

    def service(self) -> NotificationService:
        plan = NotificationPlan(self.targets, lambda text: text.replace(KEY, "***"))
        return NotificationService(self.home, lambda: plan, self.clock, times=self.times)

    def deliveries(self) -> list[Delivery]:
        return self.service().ledger.deliveries()

    def states(self) -> list[str]:
        return sorted(f"{each.target} {each.state} {each.attempts}" for each in self.deliveries())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def web() -> Generator[Receiver]:
    with receiver() as place:
        yield place


async def test_a_question_arrives_as_masked_json_that_says_how_to_answer(place: Place, web: Receiver) -> None:
    place.add("web", f"json://127.0.0.1:{web.port}/hook")
    place.add("other", f"json://127.0.0.1:{web.port}/done-only", "done")
    service = place.service()
    assert await service.notify(WAITING) == 1
    assert await service.notify(WAITING) == 0, "the same notification is stored once"
    await service.send_all()
    path, content = web.next()
    assert path.startswith("/hook")
    assert content["title"] == "hermes-acp: Waits for you: Update the dependencies"
    lines = content["message"].splitlines()
    assert lines[:2] == [
        "Approve `rm -rf build`? It deletes files. ***",
        "Answer: hermes-acp runs answer run_1",
    ]
    assert lines[2].startswith("Run run_1 Session ses_1, reference ")
    assert place.states() == ["web delivered 1"]
    assert web.received.empty()
    with closing(sqlite3.connect(place.home / "notifications.db")) as ledger:
        stored = "\n".join(ledger.iterdump())
    assert str(web.port) not in stored, "addresses are secrets"
    assert KEY not in stored
    assert (place.home / "notifications.db").stat().st_mode & 0o777 == 0o600


async def test_a_ntfy_server_is_sent_plain_text(place: Place, web: Receiver) -> None:
    place.add("phone", f"ntfy://127.0.0.1:{web.port}/topic")
    service = place.service()
    await service.notify(Notification("n", "done", "<b>Tidy</b> @everyone\x1b[2J\u202e up"))
    await service.send_all()
    _, content = web.next()
    assert content["topic"] == "topic"
    assert content["title"] == "hermes-acp: Done: <b>Tidy</b> @\u200beveryone[2J up"
    assert place.states() == ["phone delivered 1"]


async def test_mail_arrives_at_a_mail_server(place: Place) -> None:
    box = place.home / "box"
    controller = Controller(Mailbox(box), hostname="127.0.0.1", port=0)
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        controller.port = free.getsockname()[1]
    controller.start()
    try:
        place.add(
            "mail", f"mailto://127.0.0.1:{controller.port}?from=a@example.org&to=b@example.org&mode=insecure"
        )
        service = place.service()
        await service.notify(WAITING)
        await service.send_all()
    finally:
        controller.stop()
    (file,) = (box / "new").iterdir()
    mail = message_from_bytes(file.read_bytes(), policy=policy.default)
    assert mail["subject"] == "hermes-acp: Waits for you: Update the dependencies"
    assert "Answer: hermes-acp runs answer run_1" in str(mail)
    assert place.states() == ["mail delivered 1"]


async def test_a_failing_service_is_retried_later_and_finally_given_up(place: Place) -> None:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        place.add("dead", f"json://127.0.0.1:{free.getsockname()[1]}/hook")
    service = place.service()
    await service.notify(WAITING)
    for wait_s in BACKOFF_S:
        assert await service.send_due() == 1
        assert await service.send_due() == 0, "the next attempt is later"
        place.clock.time += wait_s
    assert await service.send_due() == 1
    assert place.states() == ["dead failed 6"]
    (failed,) = place.deliveries()
    assert "could not be reached" in failed.error
    assert "127.0.0.1" not in failed.error
    assert service.ledger.retry(place.clock.time) == 1
    assert place.states() == ["dead pending 0"]


async def test_a_service_that_recovers_gets_the_message_once(place: Place, web: Receiver) -> None:
    place.add("web", f"json://127.0.0.1:{web.port}/hook")
    web.answers = [503]
    service = place.service()
    await service.notify(WAITING)
    await service.send_due()
    place.clock.time += BACKOFF_S[0]
    await service.send_due()
    assert SENT_AGAIN not in web.next()[1]["message"]
    assert SENT_AGAIN not in web.next()[1]["message"], "it was rejected, so there is no doubt"
    assert place.states() == ["web delivered 2"]


async def test_a_slow_service_delays_no_other_and_its_retry_is_marked(place: Place, web: Receiver) -> None:
    with receiver() as slow:
        slow.holds.set()
        place.times = NotificationTimes(send_timeout_s=0.2)
        place.add("slow", f"json://127.0.0.1:{slow.port}/hook")
        service = place.service()
        await service.notify(WAITING)
        assert await service.send_due() == 1
        slow.next()
        assert place.states() == ["slow pending 1"]
        slow.holds.clear()
        place.times = NotificationTimes()
        place.add("web", f"json://127.0.0.1:{web.port}/hook")
        place.clock.time += BACKOFF_S[0]
        service = place.service()
        await service.notify(WAITING)
        assert await service.send_due() == 2
        assert slow.next()[1]["message"].startswith(SENT_AGAIN)
        assert not web.next()[1]["message"].startswith(SENT_AGAIN)
    assert place.states() == ["slow delivered 2", "web delivered 1"]


PROGRAM = """
import sys, anyio
from pathlib import Path
from hermes_acp.clock import SystemClock
from hermes_acp.core.ports.notification_ports import Destination, Notification
from hermes_acp.notifications.notification_service import *
target = NotificationTarget("web", "apprise", Destination(Path(sys.argv[1]), sys.argv[2]), frozenset({"done"}))
plan = NotificationPlan([target], lambda text: text)
service = NotificationService(Path(sys.argv[1]), lambda: plan, SystemClock())
async def main():
    await service.notify(Notification("n", "done", "Tidy up"))
    await service.send_all()
anyio.run(main)
"""


async def test_a_message_whose_sender_was_killed_is_sent_again_marked_as_doubtful(
    place: Place, web: Receiver
) -> None:
    web.holds.set()
    address = f"json://127.0.0.1:{web.port}/hook"
    killed = subprocess.Popen([sys.executable, "-c", PROGRAM, str(place.home), address])
    try:
        web.next()
    finally:
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
    assert place.states() == ["web attempting 1"]
    web.holds.clear()
    place.add("web", address)
    (delivery,) = place.deliveries()
    place.clock.time = delivery.due_at - 1
    service = place.service()
    assert await service.send_due() == 0, "its process may still be alive"
    place.clock.time += 2
    assert await service.send_due() == 1
    assert web.next()[1]["message"].startswith(SENT_AGAIN)
    assert place.states() == ["web delivered 2"]


async def test_a_message_that_kills_every_process_is_given_up(place: Place) -> None:
    place.add("web", "json://127.0.0.1:9/hook")
    service = place.service()
    await service.notify(WAITING)
    for _ in range(len(BACKOFF_S) + 1):
        assert len(service.ledger.claim(place.clock.time, 60)) == 1
        place.clock.time += 61
    assert service.ledger.claim(place.clock.time, 60) == []
    assert place.states() == ["web failed 6"]


@pytest.mark.parametrize("address", ["", "nonsense", "file:///etc/passwd"])
async def test_an_unusable_address_fails_at_once(place: Place, address: str) -> None:
    place.add("web", address)
    service = place.service()
    await service.notify(WAITING)
    await service.send_all()
    assert place.states() == ["web failed 1"]
    assert "is not a URL that Apprise supports" in place.deliveries()[0].error


def test_agent_text_keeps_its_lines_but_no_secret_control_character_or_mention() -> None:
    said = f"First\n\x1b[2Jsecond @channel key\n{'x' * 4_000}"
    notification = Notification("n", "done", "/digest", result=said)
    body = message_of(notification, lambda text: text.replace("key", "***")).body
    first, second, rest, about = body.splitlines()
    assert (first, second) == ("First", "[2Jsecond @\u200bchannel ***")
    assert rest.endswith("x…")
    assert about.startswith("reference ")
    assert len(body) < 3_100
