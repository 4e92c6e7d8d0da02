"""Notifications about a session that has no attached client."""

from pathlib import Path

import pytest
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.clock import SystemClock
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    PermissionAnswered,
    PermissionAsked,
    TitleChanged,
    TurnEnded,
    TurnStarted,
)
from hermes_acp.core.ports.notification_ports import Destination, Notification
from hermes_acp.core.record.session_record import Record
from hermes_acp.notifications.notification_service import (
    NotificationPlan,
    NotificationService,
    NotificationTarget,
)
from hermes_acp.sessions.clients.absence_notifications import AbsenceNotifications
from tests.unit.notifications.notification_receiver import receiver
from tests.unit.recorded_session import NamedSession

pytestmark = pytest.mark.anyio
REMOVE = CallProposed("c", "execute", "Run `rm -rf build`", "execute")
ASKING: tuple[Event, ...] = (TurnStarted("t"), REMOVE, PermissionAsked("c", "It deletes files."))


class OpenSession(Struct):
    record: Record
    clients: list[str]


def reported(*events: Event, clients: tuple[str, ...] = ()) -> list[Notification]:
    record = Record()
    record.apply(TitleChanged("Tidy up"))
    posted: list[Notification] = []
    observer = AbsenceNotifications(lambda _: OpenSession(record, list(clients)), posted.append)
    audience = observer.opened(NamedSession("ses_1"))
    for event in events:
        audience.show(event)
    observer.closed("ses_1")
    return posted


async def test_a_question_that_nobody_sees_is_reported_with_its_reason() -> None:
    assert reported(*ASKING) == [
        Notification(
            "ses_1:c",
            "input_required",
            "Tidy up",
            "Run `rm -rf build`. It deletes files.",
            session_id="ses_1",
            answer_with="hermes-acp chat --resume ses_1",
        )
    ]
    asks = CallProposed("q", "ask_user", "Which branch?", "other")
    (question,) = reported(TurnStarted("t"), asks, CallStarted("q"))
    assert (question.kind, question.sentence) == ("input_required", "Which branch?")


async def test_a_question_already_open_is_reported_when_the_last_client_leaves() -> None:
    session = OpenSession(Record(), ["editor"])
    posted: list[Notification] = []
    observer = AbsenceNotifications(lambda _: session, posted.append)
    audience = observer.opened(NamedSession("ses_1"))
    for event in (*ASKING, CallProposed("d", "write", "Write a.txt", "edit"), PermissionAsked("d")):
        audience.show(event)
    audience.show(PermissionAnswered("d", "allow_once"))
    observer.left("ses_1")
    assert posted == [], "the editor is attached"
    session.clients.clear()
    observer.left("ses_1")
    assert [each.id for each in posted] == ["ses_1:c"]
    audience.show(CallEnded("c", "execute", "completed", "Done."))
    observer.left("ses_1")
    observer.closed("ses_1")
    observer.left("ses_1")
    assert len(posted) == 1


async def test_endings_are_reported_unless_somebody_has_seen_them() -> None:
    assert [each.kind for each in reported(TurnEnded("t", "done"))] == ["done"]
    (failed,) = reported(TurnEnded("t", "model_trouble", "The model is down."))
    assert (failed.kind, failed.sentence) == ("failed", "The model is down.")
    assert reported(TurnEnded("t", "cancelled")) == []
    assert reported(*ASKING, TurnEnded("t", "done"), clients=("editor",)) == []
    assert reported(TurnStarted("t", run_id="run_1"), *ASKING[1:], TurnEnded("t", "done")) == []


async def test_a_posted_notification_is_sent(tmp_path: Path) -> None:
    with receiver() as phone:
        address = f"json://127.0.0.1:{phone.port}/x"
        plan = NotificationPlan(
            [
                NotificationTarget(
                    "phone", "apprise", Destination(tmp_path, address), frozenset({"input_required"})
                )
            ],
            str,
        )
        service = NotificationService(tmp_path, lambda: plan, SystemClock())
        async with background_tasks(service.keep):
            for posted in reported(*ASKING):
                service.post(posted)
            _, content = await run_sync(phone.next)
    assert content["title"] == "hermes-acp: Waits for you: Tidy up"
