"""Questions sent to several clients at once, and prompts while a process drains, without any connection."""

import random

import anyio
import anyio.lowlevel
import pytest

from hermes_acp.app.app import App
from hermes_acp.core.errors import Busy
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed, Event
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.v1.methods import session_prompt as session_prompt_v1
from hermes_acp.frontends.acp.v2.methods import session_prompt as session_prompt_v2
from hermes_acp.sessions.clients.attached_clients import AttachedClient
from hermes_acp.sessions.session import Session
from hermes_protocol import v1, v2
from tests.conversations.app_scene import Scene

pytestmark = pytest.mark.anyio


class PlayedUser:
    """A client's user, who answers when told to."""

    def __init__(self) -> None:
        self.is_connected = True
        self.was_asked = anyio.Event()
        self.answered = anyio.Event()
        self.answer: PermissionAnswer = "allow_once"
        self.was_withdrawn = False

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        self.was_asked.set()
        try:
            await self.answered.wait()
        except anyio.get_cancelled_exc_class():
            self.was_withdrawn = True
            raise
        return self.answer

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        return None

    def close(self) -> None:
        pass

    def show(self, event: Event) -> None:
        pass

    async def drained(self) -> None:
        pass


async def played_session(scene: Scene, app: App) -> Session:
    """Return a new session without clients."""
    return await app.sessions.create(
        str(scene.project), (), lambda _id, cwd, roots: app.open_workspace(cwd, roots)
    )


QUESTION = CallProposed("c1", "write_file", "Write a", "edit")


async def test_a_thousand_races_of_two_answers_have_one_outcome_each(scene: Scene) -> None:
    app = scene.open_app()
    session = await played_session(scene, app)
    chance = random.Random(1)
    winners: set[str] = set()
    with anyio.fail_after(120):
        for _ in range(1000):
            users = {"allow_once": PlayedUser(), "reject_once": PlayedUser()}
            for answer, user in users.items():
                user.answer = "allow_once" if answer == "allow_once" else "reject_once"
                session.clients.attach(AttachedClient(user, answer, user, user))
            outcomes: list[PermissionAnswer | PermissionResponse] = []

            async def ask(outcomes: list[PermissionAnswer | PermissionResponse] = outcomes) -> None:
                outcomes.append(await session.clients.ask(QUESTION, permission_scope=PermissionScope()))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                for user in users.values():
                    await user.was_asked.wait()
                for user in chance.sample(list(users.values()), 2):
                    user.answered.set()
                    if chance.random() < 0.5:
                        await anyio.lowlevel.checkpoint()
            (outcome,) = outcomes
            assert isinstance(outcome, PermissionResponse)
            assert outcome.by == outcome.answer
            winners.add(outcome.by)
            for user in users.values():
                session.clients.detach(user)
    assert winners == {"allow_once", "reject_once"}
    await app.aclose()


async def test_a_client_that_leaves_at_any_moment_never_ends_the_question(scene: Scene) -> None:
    app = scene.open_app()
    session = await played_session(scene, app)
    chance = random.Random(2)
    with anyio.fail_after(120):
        for _ in range(200):
            leaver, stayer = PlayedUser(), PlayedUser()
            session.clients.attach(AttachedClient(leaver, "leaver", leaver, leaver))
            outcomes: list[PermissionAnswer | PermissionResponse] = []

            async def ask(outcomes: list[PermissionAnswer | PermissionResponse] = outcomes) -> None:
                outcomes.append(await session.clients.ask(QUESTION, permission_scope=PermissionScope()))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                for _ in range(chance.randrange(4)):
                    await anyio.lowlevel.checkpoint()
                session.clients.detach(leaver)
                for _ in range(chance.randrange(4)):
                    await anyio.lowlevel.checkpoint()
                assert outcomes == []
                session.clients.attach(AttachedClient(stayer, "stayer", stayer, stayer))
                session.clients.brief(stayer)
                await stayer.was_asked.wait()
                stayer.answered.set()
            (outcome,) = outcomes
            assert isinstance(outcome, PermissionResponse)
            assert outcome.by == "stayer"
            session.clients.detach(stayer)
    await app.aclose()


async def test_a_prompt_rejected_during_a_drain_leaves_no_work(scene: Scene) -> None:
    app, client = scene.open_app(), ClientConnection()
    client.app = app
    session = await played_session(scene, app)
    await app.turn_tasks.drain()
    asked = v1.PromptRequest(session_id=session.id, prompt=[v1.TextContent(text="go")])
    with pytest.raises(Busy, match="is stopping"):
        await session_prompt_v1.prompt(client, asked)
    drafted = v2.PromptRequest(session_id=session.id, prompt=[v2.TextContent(text="go")])
    with pytest.raises(Busy, match="is stopping"):
        await session_prompt_v2.prompt(client, drafted)
    assert not session.has_work
    await app.aclose()
