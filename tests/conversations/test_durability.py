"""Syncing of the record, and resuming an interrupted turn."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import BadRequest, ModelUnavailable
from hermes_acp.core.events import AnyEvent, SessionOpened, TurnEnded, UserSaid
from hermes_acp.core.messages import ModelRequest, TextPart
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import Record
from hermes_acp.frontends.cli.run.headless_session import UnattendedGate
from hermes_acp.sessions.session import CONTINUE_NOTE, Session
from hermes_acp.sessions.session_creation import CreatedSession
from hermes_acp.storage.transcript import Transcript
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import WAIT_S
from tests.conversations.scripted_provider import Step, call, step
from tests.conversations.test_stored_sessions import cut_behind

pytestmark = pytest.mark.anyio
HISTORY_OF_A_START = ["user: Do it", "assistant: First.<write_file><terminal>"]


class LoggedTranscript(Transcript):
    """A record that logs what is appended and when that is synced."""

    log: list[str]
    has_more = False

    def append(self, event: AnyEvent) -> AnyEvent:
        self.has_more = True
        if isinstance(event, UserSaid | TurnEnded):
            self.log.append(type(event).__name__)
        return super().append(event)

    async def settle(self) -> None:
        had_more, self.has_more = self.has_more, False
        await super().settle()
        if had_more:
            self.log.append("sync")


@asynccontextmanager
async def opened(scene: Scene, begin: Callable[[], CreatedSession]) -> AsyncGenerator[Session]:
    app = scene.open_app()
    with anyio.fail_after(WAIT_S):
        try:
            async with background_tasks(app.keep):
                yield app.sessions.adopt(begin(), lambda _, cwd, roots: app.open_workspace(cwd, roots))
        finally:
            await app.aclose()


@asynccontextmanager
async def reopened(scene: Scene, session_id: str) -> AsyncGenerator[Session]:
    """Open a stored session in a new app that needs no approvals."""
    app = scene.open_app()

    def open_workspace(_: str, cwd: str, roots: tuple[str, ...]) -> Workspace:
        return app.open_workspace(cwd, roots)

    with anyio.fail_after(WAIT_S):
        try:
            async with background_tasks(app.keep):
                session, _ = await app.sessions.load(session_id, None, open_workspace)
                yield session
        finally:
            await app.aclose()


async def test_the_prompt_is_synced_before_the_model_is_asked_and_so_is_the_turns_end(scene: Scene) -> None:
    log: list[str] = []

    def answer(request: ModelRequest) -> Step:
        log.append("asked")
        return step("Hello.")

    def begin() -> CreatedSession:
        transcript = LoggedTranscript.create(scene.record_of("ses_1"))
        assert isinstance(transcript, LoggedTranscript)
        transcript.log = log
        event = SessionOpened("ses_1", str(scene.project), (str(scene.project),), 1.0)
        record = Record()
        record.apply(transcript.append(event))
        return CreatedSession(transcript, record)

    scene.provider.answer = answer
    async with opened(scene, begin) as session:
        await session.prompt((TextPart("Hi"),), UnattendedGate())
    assert log == ["UserSaid", "sync", "asked", "TurnEnded", "sync"]


async def play_a_start(scene: Scene, behind: bytes) -> str:
    """Run a turn with a file and a command, and leave its record as if the process had been killed after an event."""
    scene.provider.plays(
        step(
            "First.",
            call("write_file", "c1", path="a.txt", content="one\n"),
            call("terminal", "c2", command="true"),
        ),
        step("All done."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "Do it")
    cut_behind(scene.record_of(session), behind)
    scene.provider.requests.clear()
    return session


@pytest.mark.parametrize(
    ("behind", "outcomes"),
    [
        (b'"call_started","call_id":"c2"', ["Created a.txt", "The process ended while"]),
        (b'"call_id":"c1","name":"write_file","status"', ["Created a.txt", "The process ended before"]),
        (b'"call_started","call_id":"c1"', ["The process ended while", "The process ended before"]),
        (b'"type":"step_ended"', ["The process ended before", "The process ended before"]),
    ],
)
async def test_a_turn_continues_from_its_last_step(scene: Scene, behind: bytes, outcomes: list[str]) -> None:
    session_id = await play_a_start(scene, behind)
    scene.provider.plays(step("I go on."))
    async with reopened(scene, session_id) as session:
        end = await session.go_on(UnattendedGate())
        assert end.reason == "done"
        with pytest.raises(BadRequest, match="no unfinished turn"):
            await session.go_on(UnattendedGate())
    (request,) = scene.provider.requests
    history = [line for line in plain_history(request) if "[Mode is now" not in line]
    assert history[:2] == HISTORY_OF_A_START
    assert history[4:] == [f"user: {CONTINUE_NOTE}"]
    for line, outcome in zip(history[2:4], outcomes, strict=True):
        assert line.partition(": ")[2].startswith(outcome), line


async def test_an_unanswered_turn_is_resumed(scene: Scene) -> None:
    session_id = await play_a_start(scene, b'"type":"user_said"')
    scene.provider.plays(step(ModelUnavailable("It is down.")), step("I begin."))
    scene.overrides["retry.attempts"] = 1
    async with reopened(scene, session_id) as session:
        assert (await session.go_on(UnattendedGate())).reason == "model_trouble"
        assert (await session.go_on(UnattendedGate())).reason == "done"
    for request in scene.provider.requests:
        assert [line for line in plain_history(request) if "[Mode" not in line] == ["user: Do it"]


async def test_a_prompt_left_unanswered_by_a_killed_process_is_sent_with_the_next_prompt(
    scene: Scene,
) -> None:
    session_id = await play_a_start(scene, b'"type":"user_said"')
    scene.provider.plays(step("Both."), step("More."))
    async with reopened(scene, session_id) as session:
        for words in ("Well?", "And now?"):
            await session.prompt((TextPart(words),), UnattendedGate())
    reported = [plain_history(request) for request in scene.provider.requests]
    assert reported == [
        ["user: Do it", "user: Well?"],
        ["user: Do it", "user: Well?", "assistant: Both.", "user: And now?"],
    ]


async def test_interrupted_text_stays_in_the_history(scene: Scene) -> None:
    session_id = await play_a_start(scene, b'"type":"text_said"')
    scene.provider.plays(step("second."))
    async with reopened(scene, session_id) as session:
        await session.go_on(UnattendedGate())
    history = plain_history(scene.provider.requests[0])
    assert "assistant: First.\n[The turn was interrupted here.]" in history
    assert history[-1] == f"user: {CONTINUE_NOTE}"
