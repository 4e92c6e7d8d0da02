"""Notifications about runs that are done or waiting are sent once each, across restarts."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.to_thread import run_sync

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.app.service_factories import build_notifications
from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import environment_of
from hermes_acp.notifications.delivery_ledger import DeliveryLedger
from hermes_acp.runs.run_notifications import RunNotifications
from tests.conversations.app_scene import RealClock, Scene
from tests.conversations.scripted_provider import step
from tests.conversations.test_runs import WRITE, ended_or_waiting, wish
from tests.unit.notifications.notification_receiver import receiver

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def reporting(scene: Scene) -> AsyncGenerator[App]:
    """Start a process that drives runs and sends notifications about them."""
    app = scene.open_app()
    service = build_notifications(environment_of(scene.variables), SystemClock())
    reports = RunNotifications(app.run_service, service)
    try:
        async with background_tasks(app.keep, app.run_service.work, reports.keep):
            yield app
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


async def test_a_question_and_the_end_of_a_run_are_reported_once(scene: Scene) -> None:
    scene.clock = RealClock()
    home = environment_of(scene.variables).home
    home.mkdir(exist_ok=True)
    scene.provider.plays(step("I write.", WRITE))
    with receiver() as phone:
        (home / "config.yaml").write_text("notifications: {targets: {phone: apprise}}\n")
        (home / ".env").write_text(f"HERMES_NOTIFY_PHONE=json://127.0.0.1:{phone.port}/x\n")
        async with reporting(scene) as app:
            await app.run_service.start(wish(scene, "Make the file"))
            assert (await ended_or_waiting(app)).state == "input_required"
            _, asked = await run_sync(phone.next)
        assert asked["title"] == "hermes-acp: Waits for you: Make the file"
        what, how, who = asked["message"].splitlines()
        assert "made.txt" in what
        assert how == "Answer: hermes-acp runs answer run_1 allow|deny"
        assert who.startswith("Run run_1 Session ")
        scene.provider.plays(step("Written."))
        async with reporting(scene) as app:
            await app.run_service.answer("run_1", "allow_once", by="ann")
            assert (await ended_or_waiting(app)).state == "done"
            _, ended = await run_sync(phone.next)
        assert ended["title"] == "hermes-acp: Done: Make the file"
        assert phone.received.empty()
    assert [each.kind for each in DeliveryLedger(home).deliveries()] == ["done", "input_required"]


async def test_without_targets_nothing_is_stored_or_sent_later(scene: Scene) -> None:
    scene.clock = RealClock()
    home = environment_of(scene.variables).home
    scene.provider.plays(step("Done."))
    async with reporting(scene) as app:
        await app.run_service.start(wish(scene))
        assert (await ended_or_waiting(app)).state == "done"
    assert not DeliveryLedger(home).exists
