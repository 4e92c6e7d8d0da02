"""A session's options, its deletion, and signing out."""

import anyio
import pytest

from hermes_protocol.errors import AUTH_REQUIRED, INVALID_PARAMS, NOT_FOUND
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import Pause, ScriptedThought, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
BOOLEANS: Json = {"configOptions": {"boolean": {}}}


def values(options: list[Json]) -> dict[str, object]:
    return {option["id"]: option["currentValue"] for option in options}


async def set_option(editor: FakeEditor, session: str, name: str, value: str | bool) -> list[Json]:
    params: Json = {"sessionId": session, "configId": name, "value": value}
    if isinstance(value, bool):
        params["type"] = "boolean"
    return (await editor.call("session/set_config_option", params))["configOptions"]


async def test_options_are_sent_with_a_session_and_the_model_once_it_is_known(scene: Scene) -> None:
    scene.provider.listed = ("scripted-1", "scripted-2")
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert {"mode", "during_turn"} <= values(editor.opened[session]["configOptions"]).keys()

        def offered() -> list[Json]:
            return [option for option in editor.options(session) if option["id"] == "model"]

        await editor.until(lambda: bool(offered()) and len(offered()[0]["options"]) > 1)
        assert offered()[0]["category"] == "model"
        assert [option["value"] for option in offered()[0]["options"]][-1] == "scripted-2"


async def test_setting_an_option_returns_the_complete_list(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        options = await set_option(editor, session, "mode", "plan")
        assert values(options)["mode"] == "plan"
        assert values(options)["during_turn"] == "queue"
        reported = ShownSession(editor, session)
        assert reported.of("current_mode_update")[-1]["currentModeId"] == "plan"
        assert values(reported.of("config_option_update")[-1]["configOptions"])["mode"] == "plan"


async def test_a_mode_set_by_another_method_is_shown_among_the_options(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, "accept_edits")
        shown = editor.options(session)
    assert values(shown)["mode"] == "accept_edits"


@pytest.mark.parametrize(
    ("name", "value"), [("mode", "bypass"), ("magic", "x"), ("during_turn", "never"), ("mode", True)]
)
async def test_an_unknown_option_or_value_is_rejected(scene: Scene, name: str, value: str | bool) -> None:
    async with scene.editor(session=BOOLEANS) as editor:
        session = await editor.new_session(scene.project)
        params: Json = {"sessionId": session, "configId": name, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        assert (await editor.refusal("session/set_config_option", params)).code == INVALID_PARAMS
        params["sessionId"] = "ses_none"
        assert (await editor.refusal("session/set_config_option", params)).code == NOT_FOUND


async def test_an_unknown_option_is_answered_with_the_existing_ones(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        params: Json = {"sessionId": session, "configId": "colour", "value": "red"}
        message = (await editor.refusal("session/set_config_option", params)).message
        assert message.startswith("There is no option 'colour'. The options are: mode, ")
        message = (await editor.refusal("session/set_config_option", {**params, "configId": "mode"})).message
        assert message == "There is no mode 'red'. The modes are: ask, accept_edits, plan, auto."
        message = (
            await editor.refusal("session/set_config_option", {**params, "configId": "during_turn"})
        ).message
        assert message == "The option 'during_turn' has no value 'red'."


@pytest.mark.parametrize(
    ("method", "wish"),
    [
        ("session/set_config_option", {"configId": "mode", "value": "bypass"}),
        ("session/set_mode", {"modeId": "bypass"}),
    ],
)
async def test_bypass_that_is_not_allowed_says_what_it_needs(scene: Scene, method: str, wish: Json) -> None:
    async with scene.editor() as editor:
        params: Json = {"sessionId": await editor.new_session(scene.project), **wish}
        message = (await editor.refusal(method, params)).message
    assert message.startswith("The mode 'bypass', which never asks, is not allowed here.")
    assert "--allow-bypass" in message


async def test_boolean_options_are_sent_only_to_clients_that_show_them(scene: Scene) -> None:
    params: Json = {"cwd": str(scene.project), "mcpServers": []}
    async with scene.editor() as editor:
        assert "shows_thoughts" not in values((await editor.call("session/new", params))["configOptions"])
    scene.provider.plays(step(ScriptedThought("Hm."), "Yes."), step(ScriptedThought("Hm."), "No."))
    async with scene.editor(session=BOOLEANS) as editor:
        answer = await editor.call("session/new", params)
        assert values(answer["configOptions"])["shows_thoughts"] is True
        session = answer["sessionId"]
        await editor.prompt(session)
        assert len(ShownSession(editor, session).of("agent_thought_chunk")) == 1
        await set_option(editor, session, "shows_thoughts", False)
        await editor.prompt(session)
        assert len(ShownSession(editor, session).of("agent_thought_chunk")) == 1


async def test_a_chosen_model_is_used_from_the_next_turn_on_and_after_a_restart(scene: Scene) -> None:
    scene.provider.listed = ("scripted-1", "scripted-2")
    scene.provider.plays(step("One."), step("Two."), step("Three."))
    async with scene.editor() as editor:
        answer = await editor.call("session/new", {"cwd": str(scene.project), "mcpServers": []})
        session = answer["sessionId"]
        await editor.prompt(session)
        await editor.until(lambda: "scripted-2" in str([answer, *ShownSession(editor, session).updates]))
        await set_option(editor, session, "model", "scripted-2")
        await editor.prompt(session)
    async with scene.editor() as editor:
        reopening: Json = {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}
        answer = await editor.call("session/load", reopening)
        await editor.prompt(session)
        assert answer["configOptions"]
    used = [request.model for request in scene.provider.requests]
    assert used[1:] == ["scripted-2", "scripted-2"]
    assert used[0] != "scripted-2"


async def test_a_waiting_message_is_reported_once_per_turn(scene: Scene) -> None:
    pauses = [Pause(), Pause()]
    scene.provider.plays(step("One.", pauses[0]), step("Two.", pauses[1]), step("Three."), step("Four."))
    async with scene.editor(session={"notices": {}}) as editor:
        session = await editor.new_session(scene.project)

        def waiting() -> int:
            notices = ShownSession(editor, session).of("notice")
            return sum("Waiting for the running turn" in notice["title"] for notice in notices)

        async with anyio.create_task_group() as tasks:
            for prompt in ("one", "two", "three"):
                tasks.start_soon(editor.prompt, session, prompt)
            await pauses[0].reached.wait()
            await editor.call("session/list", {})
            assert waiting() == 1
            pauses[0].go.set()
            await pauses[1].reached.wait()
            tasks.start_soon(editor.prompt, session, "four")
            await editor.until(lambda: waiting() == 2)
            pauses[1].go.set()
    assert len(scene.provider.requests) == 4


async def test_a_message_during_a_turn_steers_it_if_that_was_chosen(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("Working.", pause), step("Turned around."))
    ends: list[str] = []
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await set_option(editor, session, "during_turn", "steer")

        async def ask(text: str) -> None:
            ends.append(await editor.prompt(session, text))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "go left")
            await pause.reached.wait()
            tasks.start_soon(ask, "no, right")
            await editor.call("session/list", {})
            pause.go.set()
    assert ends == ["end_turn", "end_turn"]
    assert plain_history(scene.provider.requests[1]) == [
        "user: go left",
        "assistant: Working.",
        "user: no, right",
    ]
    assert len(scene.provider.requests) == 2


async def test_cancelling_stops_a_steered_turn_and_its_steering(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("Working.", pause), step("Fresh."))
    ends: list[str] = []
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await set_option(editor, session, "during_turn", "steer")

        async def ask(text: str) -> None:
            ends.append(await editor.prompt(session, text))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "one")
            await pause.reached.wait()
            tasks.start_soon(ask, "two")
            await editor.call("session/list", {})
            editor.connection.notify("session/cancel", {"sessionId": session})
        assert ends == ["cancelled", "cancelled"]
        assert await editor.prompt(session, "three") == "end_turn"
    assert "user: two" not in plain_history(scene.provider.requests[1])


async def test_a_deleted_session_is_gone_and_deleting_it_again_succeeds(scene: Scene) -> None:
    scene.provider.plays(step("Yes."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        for name in (session, session, "ses_none", "../../etc/passwd"):
            assert await editor.call("session/delete", {"sessionId": name}) == {}
        assert (await editor.call("session/list", {}))["sessions"] == []
        reopening: Json = {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}
        assert (await editor.refusal("session/load", reopening)).code == NOT_FOUND
    assert list(scene.home.rglob("*.jsonl")) == []


async def test_signing_out_disables_the_model_until_the_client_authenticates(scene: Scene) -> None:
    scene.provider.plays(step("Yes."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.call("logout", {}) == {}
        params: Json = {"cwd": str(scene.project), "mcpServers": []}
        assert (await editor.refusal("session/new", params)).code == AUTH_REQUIRED
        assert (await editor.prompt_refusal(session)).code == AUTH_REQUIRED
        await editor.call("authenticate", {"methodId": "hermes-configured"})
        assert await editor.prompt(session) == "end_turn"


async def test_the_model_and_its_effort_are_in_the_answer_that_opens_a_session(scene: Scene) -> None:
    """Clients that read only this answer choose from it; no endpoint was contacted for it."""
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        shown = values(editor.opened[session]["configOptions"])
    assert (shown["model"], shown["effort"]) == ("scripted-1", "default")


async def test_the_model_in_the_settings_is_in_the_answer_too(scene: Scene) -> None:
    scene.configure(
        "fallbacks: [anthropic/claude-sonnet-5]\nproviders: {anthropic: {base_url: 'http://127.0.0.1:9'}}\n"
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        options = editor.opened[session]["configOptions"]
    (model,) = [option for option in options if option["id"] == "model"]
    assert values(options)["provider"] == "openai_compatible"
    assert [each["value"] for each in model["options"]] == [
        "openai_compatible/scripted-1",
        "anthropic/claude-sonnet-5",
    ]
