"""The open question of a run is shown to the clients that have its session open."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed, PermissionAnswered
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.ports.run_ports import RunView
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.runs.attached_questions import AttachedQuestions
from hermes_acp.runs.run_service import RunRequest
from hermes_acp.sessions.clients.attached_clients import AttachedClient, Role
from hermes_acp.sessions.session import Session
from hermes_acp.storage.transcript import Transcript
from tests.conversations.app_scene import RealClock, Scene, plain_history
from tests.conversations.fake_editor import WAIT_S
from tests.conversations.scripted_provider import call, step
from tests.conversations.test_shared_questions import PlayedUser

pytestmark = pytest.mark.anyio
WRITE = call("write_file", "c1", path="made.txt", content="made\n")


class AskedUser(PlayedUser):
    """A user who remembers the questions, and can answer more than yes or no."""

    def __init__(self) -> None:
        super().__init__()
        self.cards: list[CallProposed] = []
        self.scopes: list[PermissionScope] = []
        self.questions: list[Question] = []
        self.texts: dict[str, str] = {}

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        self.cards.append(call)
        self.scopes.append(permission_scope)
        answer = await super().ask(call, permission_scope=permission_scope)
        assert isinstance(answer, str)
        return PermissionResponse(answer, "As you like.", self.texts)

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        self.questions.append(question)
        self.was_asked.set()
        await self.answered.wait()
        return Reply("answered", "blue")


@pytest.fixture
def scene(scene: Scene) -> Scene:
    scene.clock = RealClock()
    return scene


@asynccontextmanager
async def resident(scene: Scene) -> AsyncGenerator[App]:
    """Start a process that drives runs and sends their questions to clients."""
    questions = AttachedQuestions(lambda: app.run_service, lambda: app.sessions.opened)
    app = scene.open_app(observers=(questions,))
    try:
        async with background_tasks(app.keep, app.run_service.work, questions.keep):
            yield app
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


async def started(app: App, scene: Scene) -> RunView:
    """Start a run and wait until it asks a question."""
    await app.run_service.start(RunRequest("Do it.", str(scene.project), id="run_1"))
    return await reached(app, "input_required")


async def reached(app: App, state: str) -> RunView:
    with anyio.fail_after(WAIT_S):
        async with app.run_service.engine.watch(0) as changes:
            async for change in changes:
                if change.state == state and (view := await app.run_service.known("run_1")).state == state:
                    return view
    raise AssertionError


async def loaded(app: App, run: RunView) -> Session:
    session, _ = await app.sessions.load(
        run.order.session_id, None, lambda _id, cwd, roots: app.open_workspace(cwd, roots)
    )
    return session


def attach(session: Session, name: str, role: Role = "controller") -> AskedUser:
    user = AskedUser()
    session.clients.attach(AttachedClient(user, name, user, user, role))
    session.clients.brief(user)
    return user


def answers_in(scene: Scene, run: RunView) -> list[tuple[str, str]]:
    events = Transcript.read_events(scene.record_of(run.order.session_id))
    return [(event.answer, event.by) for event in events if isinstance(event, PermissionAnswered)]


async def test_the_first_answer_of_an_attached_client_counts_and_is_recorded(scene: Scene) -> None:
    scene.provider.plays(step("I write.", WRITE), step("Done so."))
    async with resident(scene) as app:
        run = await started(app, scene)
        session = await loaded(app, run)
        ann, ben = attach(session, "ann"), attach(session, "ben")
        eve = attach(session, "eve", "observer")
        with anyio.fail_after(WAIT_S):
            await ann.was_asked.wait()
            await ben.was_asked.wait()
            ben.answered.set()
            done = await reached(app, "done")
        assert ann.was_withdrawn
        assert ben.cards[0].diffs[0].new_text == "made\n"
        assert ben.cards[0].why
        assert ben.scopes == [PermissionScope()], "an answer to a run applies only to this call"
        assert not eve.was_asked.is_set()
    assert answers_in(scene, done) == [("allow_once", "ben")]
    assert (scene.project / "made.txt").read_text() == "made\n"


async def test_an_answer_from_elsewhere_withdraws_the_question(scene: Scene) -> None:
    scene.provider.plays(step("I write.", WRITE), step("As you like."))
    async with resident(scene) as app:
        run = await started(app, scene)
        session = await loaded(app, run)
        ann = attach(session, "ann")
        with anyio.fail_after(WAIT_S):
            await ann.was_asked.wait()
            await app.run_service.answer("run_1", "reject_once", by="a terminal")
            done = await reached(app, "done")
            while not ann.was_withdrawn:
                await anyio.lowlevel.checkpoint()
        assert session.clients.asks == ()
    assert answers_in(scene, done) == [("reject_once", "a terminal")]


async def test_a_client_that_attaches_later_is_asked_and_may_change_the_text(scene: Scene) -> None:
    scene.provider.plays(step("I write.", WRITE), step("Done so."))
    async with resident(scene) as app:
        run = await started(app, scene)
        session = await loaded(app, run)
        with anyio.fail_after(WAIT_S):
            while not session.clients.asks:
                await anyio.lowlevel.checkpoint()
        ann = attach(session, "ann")
        ann.texts = {str(scene.project / "made.txt"): "better\n"}
        ann.answered.set()
        await reached(app, "done")
    assert (scene.project / "made.txt").read_text() == "better\n"


async def test_the_agents_own_question_reaches_clients_too(scene: Scene) -> None:
    scene.provider.plays(step(call("ask_user", "c1", question="Which colour?")), step("Blue it is."))
    async with resident(scene) as app:
        run = await started(app, scene)
        ann = attach(await loaded(app, run), "ann")
        ann.answered.set()
        await reached(app, "done")
        assert [question.text for question in ann.questions] == ["Which colour?"]
    assert "blue" in plain_history(scene.provider.requests[-1])[-1]
