"""`session/attach` from the open RFD: replay, notifications, both versions, with and without the flag."""

from collections.abc import Sequence

import anyio
import pytest

from hermes_protocol.errors import INVALID_PARAMS, METHOD_NOT_FOUND
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import Pause, call, step
from tests.conversations.shared_app import strangers
from tests.conversations.test_attached_clients import never
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"
NOT_OPEN = -32001
WRITE = call("write_file", path="a.txt", content="a\n")


@pytest.fixture
def scene(scene: Scene) -> Scene:
    scene.offer_unstable()
    return scene


def named(name: str) -> Json:
    return {"protocolVersion": 1, "clientInfo": {"name": name, "version": "1.2"}}


async def greet(editors: Sequence[FakeEditor], *names: str) -> None:
    for editor, name in zip(editors, names, strict=True):
        await editor.call("initialize", named(name))


async def attach(editor: FakeEditor, session_id: str, **more: object) -> Json:
    return await editor.call("session/attach", {"sessionId": session_id, **more})


def peer_updates(editor: FakeEditor) -> list[Json]:
    """Return what an editor was told about the other clients."""
    return [params["update"] for _, params in editor.notified if "type" in params.get("update", {})]


def kinds(editor: FakeEditor) -> list[str]:
    return [update["type"] for update in peer_updates(editor)]


async def test_a_client_that_attaches_gets_the_past_and_then_new_events(scene: Scene) -> None:
    scene.provider.plays(step("One."), step("Two."))
    async with strangers(scene, 2) as (first, second):
        await greet((first, second), "desk", "phone")
        session_id = await first.new_session(scene.project)
        await first.prompt(session_id, "count")
        answer = await attach(second, session_id, clientId="phone-1")
        (desk,) = answer.pop("connectedClients")
        assert (desk["name"], desk["version"]) == ("desk", "1.2")
        assert answer == {
            "sessionId": session_id,
            "clientId": "phone-1",
            "role": "controller",
            "historyPolicy": "full",
            "history": [{"type": "prompt", "content": "count"}],
        }
        shown = ShownSession(second, session_id)
        assert shown.text == "One."
        assert [each["content"]["text"] for each in shown.of("user_message_chunk")] == ["count"]
        await first.prompt(session_id, "on")
        await second.until(lambda: "turn_complete" in kinds(second))
        (received, complete) = peer_updates(second)
        assert received["prompt"] == [{"type": "text", "text": "on"}]
        assert received["sentBy"] == desk
        assert complete["stopReason"] == "end_turn"
        assert ShownSession(second, session_id).text == "One.Two."
        assert len(ShownSession(second, session_id).of("user_message_chunk")) == 1
        assert kinds(first) == []


async def test_a_client_is_told_who_answered_and_who_left(scene: Scene) -> None:
    scene.provider.plays(step("", WRITE), step("Done."))
    async with strangers(scene, 3) as (desk, phone, watch), anyio.create_task_group() as tasks:
        await greet((desk, phone, watch), "desk", "phone", "watch")
        never(desk)
        never(watch)
        session_id = await desk.new_session(scene.project)
        tasks.start_soon(desk.prompt, session_id, "write")
        await desk.until(lambda: [method for method, _ in desk.asked] == [ASK])
        answer = await attach(watch, session_id, historyPolicy="pending_only")
        (pending,) = answer["history"]
        assert (pending["type"], pending["status"]) == ("permission_request", "pending")
        await watch.until(lambda: [method for method, _ in watch.asked] == [ASK])
        assert watch.asked[0][1]["toolCall"]["toolCallId"] == pending["toolCallId"]
        assert ShownSession(watch, session_id).of("user_message_chunk") == []
        phone.on[ASK] = allow("allow_once")
        await attach(phone, session_id, clientId="phone-1", historyPolicy="none")
        await watch.until(lambda: "turn_complete" in kinds(watch))
        resolved, complete = peer_updates(watch)
        assert resolved["toolCallId"] == pending["toolCallId"]
        assert resolved["chosenOptionId"] == "allow_once"
        assert resolved["resolvedBy"] == {"clientId": "phone-1", "name": "phone", "version": "1.2"}
        assert complete["stopReason"] == "end_turn"
        await watch.until(lambda: len(watch.given_up) == 1)
        assert await phone.call("session/detach", {"sessionId": session_id}) == {
            "sessionId": session_id,
            "status": "detached",
        }
        await watch.until(lambda: kinds(watch)[-1] == "client_disconnected")
        assert peer_updates(watch)[-1]["client"]["clientId"] == "phone-1"
        assert (await phone.refusal("session/detach", {"sessionId": session_id})).code == NOT_OPEN
        assert (scene.project / "a.txt").read_text() == "a\n"


async def test_only_events_after_a_message_are_replayed(scene: Scene) -> None:
    scene.provider.plays(step("One."), step("Two."))
    async with strangers(scene, 2) as (first, second):
        await greet((first, second), "desk", "phone")
        session_id = await first.new_session(scene.project)
        await first.prompt(session_id, "first")
        (one,) = ShownSession(first, session_id).of("agent_message_chunk")
        await first.prompt(session_id, "second")
        after: Json = {"historyPolicy": "after_message", "afterMessageId": one["messageId"]}
        answer = await attach(second, session_id, **after)
        assert answer["historyPolicy"] == "after_message"
        assert [item["content"] for item in answer["history"]] == ["second"]
        assert ShownSession(second, session_id).text == "Two."
        answer = await attach(second, session_id, **(after | {"afterMessageId": "msg_gone"}))
        assert answer["historyPolicy"] == "full"
        assert ShownSession(second, session_id).text == "Two.One.Two."
        assert "history" not in await attach(second, session_id, historyPolicy="none")


async def test_a_client_that_attaches_again_is_shown_nothing_twice(scene: Scene) -> None:
    scene.provider.plays(step("One "), step("two ", Pause(), "three."))
    async with strangers(scene, 2) as (first, second), anyio.create_task_group() as tasks:
        await greet((first, second), "desk", "phone")
        session_id = await first.new_session(scene.project)
        await first.prompt(session_id)
        for _ in range(2):
            await attach(second, session_id, historyPolicy="none")
        params: Json = {"sessionId": session_id, "cwd": str(scene.project), "mcpServers": []}
        await second.call("session/resume", params)
        await attach(second, session_id, historyPolicy="none")
        tasks.start_soon(first.prompt, session_id)
        await second.until(lambda: ShownSession(second, session_id).text == "two ")
        first.cancel(session_id)
        await second.until(lambda: "turn_complete" in kinds(second))
        assert ShownSession(second, session_id).text == "two "
        assert kinds(second) == ["prompt_received", "turn_complete"]
        assert peer_updates(second)[-1]["stopReason"] == "cancelled"


async def test_the_end_of_a_running_turn_is_reported_to_clients_that_attached_during_it(scene: Scene) -> None:
    scene.provider.plays(step("one ", Pause(), "two"))
    async with strangers(scene, 2) as (first, second), anyio.create_task_group() as tasks:
        await greet((first, second), "desk", "phone")
        session_id = await first.new_session(scene.project)
        tasks.start_soon(first.prompt, session_id)
        await first.until(lambda: ShownSession(first, session_id).text == "one ")
        await attach(second, session_id)
        assert ShownSession(second, session_id).text == "one "
        first.cancel(session_id)
        await second.until(lambda: kinds(second) == ["turn_complete"])


async def test_an_observer_is_asked_nothing_and_cannot_answer(scene: Scene) -> None:
    scene.provider.plays(step("", WRITE), step("Done."))
    async with strangers(scene, 2) as (first, second):
        await greet((first, second), "desk", "phone")
        session_id = await first.new_session(scene.project)
        assert (await attach(second, session_id, role="observer"))["role"] == "observer"
        assert await first.prompt(session_id) == "end_turn"
        await second.until(lambda: "turn_complete" in kinds(second))
        assert kinds(second) == ["prompt_received", "permission_resolved", "turn_complete"]
        assert second.asked == []
        prompt = {"sessionId": session_id, "prompt": [{"type": "text", "text": "mine"}]}
        assert (await second.refusal("session/prompt", prompt)).code == INVALID_PARAMS


async def test_an_invalid_attach_request_is_rejected(scene: Scene) -> None:
    async with strangers(scene, 2) as (first, second):
        await greet((first, second), "desk", "phone")
        session_id = await first.new_session(scene.project)
        gone = await second.refusal("session/attach", {"sessionId": "ses_gone"})
        assert (gone.code, gone.data) == (
            NOT_OPEN,
            {"code": "session_not_found", "sessionId": "ses_gone"},
        )
        bad: tuple[Json, ...] = (
            {"historyPolicy": "some"},
            {"historyPolicy": "after_message"},
            {"role": "owner"},
            {"clientId": ""},
            {"clientId": "a\nb"},
            {"clientId": "x" * 129},
        )
        for each in bad:
            refused = await second.refusal("session/attach", {"sessionId": session_id, **each})
            assert refused.code == INVALID_PARAMS, each
        assert (await second.refusal("session/detach", {"sessionId": session_id})).code == NOT_OPEN


async def test_a_client_of_the_draft_of_version_2_attaches_too(scene: Scene) -> None:
    scene.variables["HERMES_ACP_DRAFT_V2"] = "1"
    scene.provider.plays(step("", WRITE), step("Done."))
    async with strangers(scene, 2, ("v1.unstable", "v2.unstable")) as (first, second):
        await greet((first,), "desk")
        never(first)
        info = {"name": "phone", "version": "2"}
        assert (await second.call("initialize", {"protocolVersion": 2, "info": info}))["protocolVersion"] == 2
        session_id = await first.new_session(scene.project)
        second.on[ASK] = allow("allow_once")
        answer = await attach(second, session_id)
        assert [each["name"] for each in answer["connectedClients"]] == ["desk"]
        await first.prompt(session_id)
        await second.until(lambda: "turn_complete" in kinds(second))
        assert kinds(second) == ["turn_complete"]
        assert [method for method, _ in second.asked] == [ASK]
        assert (await second.call("session/detach", {"sessionId": session_id}))["status"] == "detached"


async def test_without_the_flag_neither_method_exists(scene: Scene) -> None:
    del scene.variables["HERMES_ACP_UNSTABLE"]
    scene.schema = "v1"
    async with scene.editor(_meta={"hermes": {}}) as editor:
        session_id = await editor.new_session(scene.project)
        for method in ("session/attach", "session/detach"):
            assert (await editor.refusal(method, {"sessionId": session_id})).code == METHOD_NOT_FOUND
