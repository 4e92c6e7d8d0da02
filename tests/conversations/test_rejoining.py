"""Replaying a session while it continues: nothing is missed, shown twice, or out of order."""

import anyio
import anyio.lowlevel
import pytest

from hermes_acp.app.app import App
from hermes_acp.core.events import Event, Noticed, TitleChanged
from hermes_acp.sessions.clients.catch_up import MAX_HELD_EVENTS, CatchUp
from hermes_acp.sessions.session import Session
from tests.conversations.app_scene import Scene
from tests.conversations.draft_editor import Shown, drafter, idles, new_session, resuming, saying, turn
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import Pause, step
from tests.conversations.shared_app import two_editors
from tests.conversations.test_stored_sessions import reopening
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
MODES = ("plan", "ask", "accept_edits")


class Reader:
    """An observer that reads slowly; equal to any other with its name."""

    def __init__(self, name: str, seen: list[str]) -> None:
        self._name = name
        self.seen = seen

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reader) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def show(self, event: Event) -> None:
        if isinstance(event, TitleChanged):
            self.seen.append(event.title)

    def replay_event(self, event: Event) -> None:
        self.show(event)

    async def drained(self) -> None:
        await anyio.lowlevel.checkpoint()


async def shown_session(scene: Scene, app: App) -> Session:
    """Return a session that already has a turn."""

    def open_workspace(session_id: str, cwd: str, roots: tuple[str, ...]):
        return app.open_workspace(cwd, roots)

    session = await app.sessions.create(str(scene.project), (), open_workspace)
    for number in range(30):
        session.ledger.emit(TitleChanged(f"before {number}"))
    return session


async def load(app: App, session: Session, reader: Reader) -> None:
    def open_workspace(session_id: str, cwd: str, roots: tuple[str, ...]):
        return app.open_workspace(cwd, roots)

    with CatchUp(lambda _: reader) as latecomer:
        _, past = await app.sessions.load(session.id, None, open_workspace, None, latecomer.join)
        await latecomer.hear(past)


@pytest.mark.parametrize("watched_before", [False, True])
async def test_events_during_the_replay_are_shown_last_and_once(scene: Scene, watched_before: bool) -> None:
    app = scene.open_app()
    session = await shown_session(scene, app)
    seen: list[str] = []
    if watched_before:
        session.ledger.admit(Reader("r", seen))
    number, is_shown = 0, anyio.Event()
    expected = [f"before {number}" for number in range(30)]

    async def show() -> None:
        await load(app, session, Reader("r", seen))
        is_shown.set()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(show)
            while not is_shown.is_set() or number % 10:
                session.ledger.emit(TitleChanged(f"meanwhile {number}"))
                expected.append(f"meanwhile {number}")
                number += 1
                await anyio.lowlevel.checkpoint()
    assert number > 30
    live, shown = seen[: len(seen) - len(expected)], seen[-len(expected) :]
    assert shown == expected
    assert live == expected[30 : 30 + len(live)]
    assert watched_before or not live
    await app.aclose()


@pytest.mark.parametrize("watched_before", [False, True])
async def test_an_observer_that_is_interrupted_continues_as_before(
    scene: Scene, watched_before: bool
) -> None:
    app = scene.open_app()
    session = await shown_session(scene, app)
    seen: list[str] = []
    if watched_before:
        session.ledger.admit(Reader("r", seen))

    def be_interrupted() -> None:
        with CatchUp(lambda _: Reader("r", seen)) as latecomer:
            latecomer.join(session)
            session.ledger.emit(TitleChanged("meanwhile"))
            raise InterruptedError

    with pytest.raises(InterruptedError):
        be_interrupted()
    session.ledger.emit(TitleChanged("later"))
    assert seen == (["meanwhile", "later"] if watched_before else [])
    await app.aclose()


async def test_a_session_waits_for_an_observer_that_falls_far_behind(scene: Scene) -> None:
    app = scene.open_app()
    session = await shown_session(scene, app)
    has_continued = anyio.Event()

    async def go_on() -> None:
        await session.ledger.drained()
        has_continued.set()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            with CatchUp(lambda _: Reader("r", [])) as latecomer:
                latecomer.join(session)
                await session.ledger.drained()
                for _ in range(MAX_HELD_EVENTS):
                    session.ledger.emit(Noticed("info", "More."))
                tasks.start_soon(go_on)
                await anyio.lowlevel.checkpoint()
                assert not has_continued.is_set()
            await has_continued.wait()
    await app.aclose()


async def change_modes(editor: FakeEditor, session: str, count: int) -> list[str]:
    modes = [MODES[number % 3] for number in range(count)]
    for mode in modes:
        await editor.set_mode(session, mode)
    return modes


async def test_loading_a_running_session_shows_it_once_and_in_order(scene: Scene) -> None:
    scene.provider.plays(step("Said before."))
    made: list[str] = []
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        seen = len(editor.updates)

        async def change() -> None:
            made.extend(await change_modes(editor, session, 30))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.call, "session/load", reopening(scene, session))
            tasks.start_soon(change)
        reported = ShownSession(editor, session, seen)
    kinds = [update["sessionUpdate"] for update in reported.updates]
    assert kinds.index("agent_message_chunk") < kinds.index("current_mode_update")
    assert [update["currentModeId"] for update in reported.of("current_mode_update")] == made


async def test_another_client_that_loads_a_running_session_misses_nothing(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("One ", pause, "two."))
    made: list[str] = []
    async with two_editors(scene) as (first, second):
        session = await first.new_session(scene.project)

        async def change() -> None:
            made.extend(await change_modes(first, session, 30))
            pause.go.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.prompt, session)
            await pause.reached.wait()
            tasks.start_soon(change)
            tasks.start_soon(second.call, "session/load", reopening(scene, session))
        await second.until(lambda: ShownSession(second, session).text.endswith("two."))
        reported = ShownSession(second, session)
    assert reported.text == "One two."
    assert [update["currentModeId"] for update in reported.of("current_mode_update")] == made


async def test_a_prompt_right_after_resuming_in_version_2_is_shown_once(draft: Scene) -> None:
    draft.provider.plays(step("One."), step("Two."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await turn(editor, session, "first")
        seen = len(editor.updates)
        async with anyio.create_task_group() as tasks:
            again = resuming(draft, session, replayFrom={"type": "start"})
            tasks.start_soon(editor.call, "session/resume", again)
            await anyio.lowlevel.checkpoint()
            tasks.start_soon(editor.call, "session/prompt", saying(session, "second"))
        await editor.until(lambda: len(editor.updates) > seen and idles(editor, session)[1:])
        del editor.updates[:seen]
        await editor.until(lambda: "Two." in Shown(editor, session).said("agent_message"))
        shown = Shown(editor, session)
    kinds: list[Json] = [update for update in shown.updates if "_message" in update["sessionUpdate"]]
    assert [update["sessionUpdate"] for update in kinds] == [
        "user_message",
        "agent_message_chunk",
        "user_message",
        "agent_message_chunk",
    ]
    assert shown.said("user_message") == ["first", "second"]


async def test_a_session_stays_open_for_a_client_during_its_replay(scene: Scene) -> None:
    app = scene.open_app()
    session = await shown_session(scene, app)
    with CatchUp(lambda _: Reader("r", [])) as latecomer:
        latecomer.join(session)
        await app.departures.close_if_unattended(session)
        assert app.sessions.get(session.id) is session
    await app.departures.close_if_unattended(session)
    assert app.sessions.get(session.id) is None
    await app.aclose()
