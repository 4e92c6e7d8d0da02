"""A question says why it is asked and what the call would do, whether or not clients know our fields."""

import pytest

from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import allow
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


async def question(scene: Scene, tool: str, **arguments: object) -> Json:
    scene.provider.plays(step(call(tool, "c1", **arguments)), step("Done."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        await editor.prompt(await editor.new_session(scene.project))
        return editor.asks(ASK)[0]


def reported(asked: Json) -> Json:
    return asked["toolCall"]["_meta"]["hermes"]


def choices(asked: Json) -> list[str]:
    return [option["name"] for option in asked["options"]]


async def test_a_deleting_or_publishing_call_is_asked_about_with_a_warning_and_without_always(
    scene: Scene,
) -> None:
    (scene.project / "build").mkdir()
    asked = await question(scene, "terminal", command="rm -rf build && git push --force")
    reason = "Asked because it deletes files: build; it publishes or changes something elsewhere: git push --force."
    assert asked["toolCall"]["content"][-1]["content"]["text"] == reason
    assert reported(asked)["reason"] == reason
    assert reported(asked)["isWarning"] is True
    assert {"kind": "deletes", "targets": ["build"]} in reported(asked)["effects"]
    assert {"kind": "publishes", "targets": ["git push --force"]} in reported(asked)["effects"]
    assert choices(asked) == ["Allow once", "Reject"]


async def test_an_ordinary_command_is_asked_about_with_its_reason_and_may_be_remembered(scene: Scene) -> None:
    asked = await question(scene, "terminal", command="make test")
    assert reported(asked)["reason"] == "Asked because make runs what the project defines."
    assert reported(asked)["isWarning"] is False
    assert len(choices(asked)) == 5


async def test_a_pages_host_may_be_allowed_for_the_session_only(scene: Scene) -> None:
    asked = await question(scene, "web_fetch", url="https://a.test/x")
    assert reported(asked)["reason"] == "Asked because it contacts other machines: a.test."
    assert reported(asked)["isWarning"] is True
    assert [option["optionId"] for option in asked["options"]] == [
        "allow_once", "allow_always", "reject_once", "reject_always",
    ]  # fmt: skip
    assert choices(asked)[1] == "Allow connections to a.test for this session"


async def test_an_answer_that_was_not_offered_applies_only_to_the_call(scene: Scene) -> None:
    scene.provider.plays(*(step(call("terminal", f"c{number}", command="rm -f x")) for number in (1, 2)))
    scene.provider.plays(step("Done."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_workspace")
        await editor.prompt(await editor.new_session(scene.project))
        assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c1", "c2"]
    assert not (scene.home / "permissions.json").exists()
