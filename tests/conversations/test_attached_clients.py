"""Several clients attached to one session: what each is shown, who is asked, whose answer counts, who may leave."""

import anyio
import pytest

from hermes_acp.core.events import Event, PermissionAnswered, TurnEnded
from hermes_acp.storage.transcript import Transcript
from hermes_protocol.errors import PeerGone
from tests.conversations.app_scene import Scene
from tests.conversations.draft_editor import HELLO, Shown
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import Pause, call, step
from tests.conversations.shared_app import strangers, two_editors
from tests.conversations.wire_laws import STABLE, Json

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


async def load(scene: Scene, editor: FakeEditor, session_id: str, **hermes: object) -> Json:
    params: Json = {"sessionId": session_id, "cwd": str(scene.project), "mcpServers": []}
    if hermes:
        params["_meta"] = {"hermes": hermes}
    return await editor.call("session/load", params)


async def shared(scene: Scene, first: FakeEditor, second: FakeEditor, **hermes: object) -> str:
    """Return a session of the first editor that the second has loaded."""
    session_id = await first.new_session(scene.project)
    await load(scene, second, session_id, **hermes)
    return session_id


def never(editor: FakeEditor) -> None:
    """Have an editor's user answer no questions."""

    async def wait(params: Json) -> Json:
        await anyio.sleep_forever()
        raise AssertionError

    editor.on[ASK] = wait


async def test_both_clients_are_shown_the_same_and_the_other_one_also_the_prompt(scene: Scene) -> None:
    scene.provider.plays(step("One ", "two."))
    async with two_editors(scene) as (first, second):
        session_id = await shared(scene, first, second)
        assert await first.prompt(session_id, "count") == "end_turn"
        await second.until(lambda: ShownSession(second, session_id).text == "One two.")
        assert ShownSession(first, session_id).of("user_message_chunk") == []
        (told,) = ShownSession(second, session_id).of("user_message_chunk")
        assert told["content"]["text"] == "count"
        assert ShownSession(first, session_id).text == "One two."


def updates_about_other_turns(editor: FakeEditor) -> list[str]:
    """Return what an editor was shown about turns that it did not start."""
    names = ("turnBegan", "turnEnded")
    return [
        name
        for method, params in editor.notified
        if method == "session/update"
        for name in names
        if name in str(params)
    ]


async def test_a_client_is_told_about_the_turns_of_others_and_not_about_its_own(scene: Scene) -> None:
    scene.provider.plays(step("One."), step("Two ", Pause(), "three."))
    wants: Json = {"_meta": {"hermes": {"turnStates": True}}}
    async with strangers(scene, 2) as (first, second), anyio.create_task_group() as tasks:
        await first.initialize(**wants)
        await second.initialize(**wants)
        session_id = await shared(scene, first, second)
        assert await first.prompt(session_id) == "end_turn"
        await second.until(lambda: len(updates_about_other_turns(second)) == 2)
        assert updates_about_other_turns(second) == ["turnBegan", "turnEnded"]
        tasks.start_soon(first.prompt, session_id)
        await second.until(lambda: len(updates_about_other_turns(second)) == 3)
        await load(scene, second, session_id)
        assert updates_about_other_turns(second)[3:] == ["turnBegan"]
        first.cancel(session_id)
        await second.until(lambda: len(updates_about_other_turns(second)) == 5)
        assert updates_about_other_turns(first) == []


async def test_a_command_of_one_client_is_shown_once_to_each(scene: Scene) -> None:
    async with two_editors(scene) as (first, second):
        session_id = await shared(scene, first, second)
        assert await first.prompt(session_id, "/status") == "end_turn"
        await second.until(lambda: ShownSession(second, session_id).of("agent_message_chunk"))
        for editor, prompts in ((first, 0), (second, 1)):
            shown = ShownSession(editor, session_id)
            assert len(shown.of("user_message_chunk")) == prompts
            assert len(shown.of("agent_message_chunk")) == 1


async def test_the_first_answer_counts_and_closes_the_other_question(scene: Scene) -> None:
    scene.provider.plays(step(call("write_file", "c1", path="a", content="new\n")), step("Done."))
    async with two_editors(scene) as (first, second):
        never(first)
        session_id = await shared(scene, first, second)
        assert await first.prompt(session_id) == "end_turn"
        assert (scene.project / "a").read_text() == "new\n"
        assert [asked["toolCall"]["toolCallId"] for asked in first.given_up] == ["c1"]
        assert ShownSession(first, session_id).cards["c1"]["_meta"]["hermes"]["answeredBy"] == "client (2)"
    events = Transcript.read_events(scene.record_of(session_id))
    assert [event.by for event in events if isinstance(event, PermissionAnswered)] == ["client (2)"]


async def test_a_client_that_attaches_later_is_asked_the_open_question(scene: Scene) -> None:
    scene.provider.plays(step(call("write_file", "c1", path="a", content="new\n")), step("Done."))
    async with two_editors(scene) as (first, second), anyio.create_task_group() as tasks:
        never(first)
        session_id = await first.new_session(scene.project)
        tasks.start_soon(first.prompt, session_id)
        await first.until(lambda: first.asks(ASK))
        await load(scene, second, session_id)
        await second.until(lambda: second.asks(ASK))
        await first.until(lambda: ShownSession(first, session_id).text == "Done.")


async def test_an_observer_is_shown_everything_asked_nothing_and_changes_nothing(scene: Scene) -> None:
    scene.provider.plays(step(call("write_file", "c1", path="a", content="new\n")), step("Done."))
    async with two_editors(scene) as (first, second):
        session_id = await shared(scene, first, second, role="observer")
        assert await first.prompt(session_id) == "end_turn"
        await second.until(lambda: ShownSession(second, session_id).text == "Done.")
        assert second.asks(ASK) == []
        assert "observer" in (await second.prompt_refusal(session_id)).message
        mode = {"sessionId": session_id, "modeId": "bypass"}
        assert "observer" in (await second.refusal("session/set_mode", mode)).message
        second.cancel(session_id)
        assert (await first.call("session/list", {}))["sessions"]


async def test_an_unknown_role_is_rejected(scene: Scene) -> None:
    async with two_editors(scene) as (first, second):
        session_id = await first.new_session(scene.project)
        params: Json = {"sessionId": session_id, "cwd": str(scene.project), "mcpServers": []}
        asked = {**params, "_meta": {"hermes": {"role": "observr"}}}
        assert "observr" in (await second.refusal("session/load", asked)).message


async def test_an_unattached_client_can_do_nothing_and_nobody_deletes_a_session_in_use(scene: Scene) -> None:
    async with two_editors(scene) as (first, second):
        session_id = await first.new_session(scene.project)
        refusal = await second.prompt_refusal(session_id)
        assert refusal.data == {"code": "busy"}
        await load(scene, second, session_id)
        for editor in (first, second):
            refusal = await editor.refusal("session/delete", {"sessionId": session_id})
            assert refusal.data == {"code": "busy"}
        await second.call("session/close", {"sessionId": session_id})
        assert await first.prompt(session_id, "/status") == "end_turn"
        await first.call("session/delete", {"sessionId": session_id})


async def test_a_dismissed_question_is_left_to_the_other_client(scene: Scene) -> None:
    scene.provider.plays(step(call("write_file", "c1", path="a", content="new\n")), step("Done."))
    async with two_editors(scene) as (first, second):
        first.on[ASK] = lambda params: {"outcome": {"outcome": "cancelled"}}
        held = anyio.Event()

        async def answer(params: Json) -> Json:
            await held.wait()
            return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

        second.on[ASK] = answer
        session_id = await shared(scene, first, second)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.prompt, session_id)
            await first.until(lambda: first.asks(ASK))
            await second.until(lambda: second.asks(ASK))
            held.set()
        assert (scene.project / "a").read_text() == "new\n"


async def drop_in_turn(scene: Scene, editor: FakeEditor, session_id: str, pause: Pause) -> None:
    """Prompt, and disconnect the editor while the model answers."""

    async def prompt() -> None:
        with pytest.raises(PeerGone):
            await editor.prompt(session_id)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt)
        with anyio.fail_after(60):
            await pause.reached.wait()
        await editor.connection.aclose()


async def test_a_turn_continues_without_its_client_and_its_question_waits_for_the_next(scene: Scene) -> None:
    pause, writing = Pause(), call("write_file", "c1", path="a", content="new\n")
    scene.provider.plays(step("Working. ", pause, writing), step("Done."))
    async with two_editors(scene) as (first, second):
        session_id = await first.new_session(scene.project)
        await drop_in_turn(scene, first, session_id, pause)
        await load(scene, second, session_id)
        assert second.asks(ASK) == []
        pause.go.set()
        await second.until(lambda: ShownSession(second, session_id).text == "Working. Done.")
        assert len(second.asks(ASK)) == 1
        assert (scene.project / "a").read_text() == "new\n"


async def test_a_session_is_closed_once_its_last_turn_has_ended_without_clients(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("Working. ", pause, "Done."))
    async with two_editors(scene) as (first, second):
        session_id = await first.new_session(scene.project)
        await drop_in_turn(scene, first, session_id, pause)
        pause.go.set()
        with anyio.fail_after(60):
            while not any(isinstance(event, TurnEnded) for event in recorded(scene, session_id)):
                await anyio.sleep(0.01)
        await load(scene, second, session_id)
        assert ShownSession(second, session_id).text == "Working. Done."


@pytest.mark.parametrize(("chosen", "text"), [("continue", "Working. Not written."), ("stop", "Working. ")])
async def test_a_setting_decides_what_a_turn_without_clients_does(
    scene: Scene, chosen: str, text: str
) -> None:
    pause, writing = Pause(), call("write_file", "c1", path="a", content="new\n")
    scene.overrides["questions.without_clients"] = chosen
    scene.provider.plays(step("Working. ", pause, writing), step("Not written."))
    async with two_editors(scene) as (first, second):
        session_id = await first.new_session(scene.project)
        await drop_in_turn(scene, first, session_id, pause)
        pause.go.set()
        with anyio.fail_after(60):
            while not any(isinstance(event, TurnEnded) for event in recorded(scene, session_id)):
                await anyio.sleep(0.01)
        await load(scene, second, session_id)
        assert ShownSession(second, session_id).text == text
    assert not (scene.project / "a").exists()


def recorded(scene: Scene, session_id: str) -> list[Event]:
    return Transcript.read_events(scene.record_of(session_id))


async def test_an_observer_that_closes_a_session_only_leaves_it(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("Working. ", pause, "Done."))
    async with two_editors(scene) as (first, second):
        session_id = await shared(scene, first, second, role="observer")
        await drop_in_turn(scene, first, session_id, pause)
        await second.call("session/close", {"sessionId": session_id})
        pause.go.set()
        with anyio.fail_after(60):
            while not (ends := [e for e in recorded(scene, session_id) if isinstance(e, TurnEnded)]):
                await anyio.sleep(0.01)
        assert [end.reason for end in ends] == ["done"]


async def test_the_sender_of_a_prompt_is_shown_even_where_secrets_are_masked(scene: Scene) -> None:
    scene.provider.plays(step("Seen."))
    async with two_editors(scene) as (first, second):
        session_id = await shared(scene, first, second)
        await first.prompt(session_id, "My key is sk-ant-api03-" + "A1b2C3d4" * 10)
        await second.until(lambda: ShownSession(second, session_id).text == "Seen.")
        assert ShownSession(first, session_id).of("user_message_chunk") == []
        (told,) = ShownSession(second, session_id).of("user_message_chunk")
        assert "A1b2C3d4" not in told["content"]["text"]


async def test_clients_of_both_versions_share_a_session(scene: Scene) -> None:
    scene.variables["HERMES_ACP_DRAFT_V2"] = "1"
    scene.provider.plays(step(call("write_file", "c1", path="a", content="new\n")), step("Done."))
    async with strangers(scene, 2, (STABLE, "v2")) as (first, second):
        never(first)
        await first.initialize()
        await second.call("initialize", HELLO)
        session_id = await first.new_session(scene.project)
        await second.call("session/resume", {"sessionId": session_id, "cwd": str(scene.project)})
        assert await first.prompt(session_id, "write it") == "end_turn"
        assert (scene.project / "a").read_text() == "new\n"
        assert ShownSession(first, session_id).cards["c1"]["_meta"]["hermes"]["answeredBy"] == "drafter"
        await second.until(lambda: Shown(second, session_id).said("agent_message") == ["Done."])
        assert Shown(second, session_id).said("user_message") == ["write it"]
        assert Shown(second, session_id).states[-1] == "idle"
