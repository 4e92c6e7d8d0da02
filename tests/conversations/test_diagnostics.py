"""Diagnostics from editors that announce that they can provide them."""

import pytest

from hermes_acp.core.messages import ToolMessage
from hermes_protocol.errors import INTERNAL_ERROR, PeerError
from tests.conversations.app_scene import Scene
from tests.conversations.draft_editor import drafter, new_session, resuming, turn
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ANNOUNCED: Json = {"hermes": {"diagnostics": True}}
METHOD = "_hermes/diagnostics"


def tools_of(scene: Scene) -> list[str]:
    return [tool.name for tool in scene.provider.requests[-1].tools]


async def test_the_editors_diagnostics_reach_the_model(scene: Scene) -> None:
    file = scene.write("a.py", "x = y\n")
    scene.provider.plays(step(call("diagnostics", "c1")), step("Done."))
    async with scene.editor(_meta=ANNOUNCED) as editor:
        editor.on[METHOD] = lambda params: {
            "diagnostics": [
                {
                    "path": str(file),
                    "line": 1,
                    "column": 5,
                    "severity": "error",
                    "message": "no y",
                    "source": "p",
                }
            ]
        }
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        card = ShownSession(editor, session).cards["c1"]
    assert editor.asks(METHOD) == [{"sessionId": session, "path": str(scene.project.resolve())}]
    (outcome,) = [m for m in scene.provider.requests[1].messages if isinstance(m, ToolMessage)]
    assert outcome.text == "a.py:1:5: error: no y (p)"
    assert (card["kind"], card["status"]) == ("read", "completed")
    assert {"path": str(file.resolve()), "line": 1} in card["locations"]


@pytest.mark.parametrize("meta", [None, {}, {"hermes": True}, {"hermes": {"diagnostics": "yes"}}])
async def test_other_editors_are_not_asked(scene: Scene, meta: Json | None) -> None:
    scene.provider.plays(step("Done."))
    async with scene.editor(**({} if meta is None else {"_meta": meta})) as editor:
        await editor.prompt(await editor.new_session(scene.project))
    assert "diagnostics" not in tools_of(scene)
    assert "read_file" in tools_of(scene)


@pytest.mark.parametrize("answer", [None, {}, {"diagnostics": [{"path": 1}]}, []])
async def test_an_invalid_answer_is_an_outcome(scene: Scene, answer: object) -> None:
    scene.provider.plays(step(call("diagnostics", "c1")), step("Done."))
    async with scene.editor(_meta=ANNOUNCED) as editor:
        editor.on[METHOD] = lambda params: answer
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert ShownSession(editor, session).cards["c1"]["status"] == "failed"


async def test_an_editors_refusal_is_quoted(scene: Scene) -> None:
    def refuse(params: Json) -> object:
        raise PeerError(INTERNAL_ERROR, "the language server is asleep")

    scene.provider.plays(step(call("diagnostics", "c1")), step("Done."))
    async with scene.editor(_meta=ANNOUNCED) as editor:
        editor.on[METHOD] = refuse
        await editor.prompt(await editor.new_session(scene.project))
    (outcome,) = [m for m in scene.provider.requests[1].messages if isinstance(m, ToolMessage)]
    assert "the language server is asleep" in outcome.text


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_a_stored_session_asks_its_new_editor(scene: Scene, method: str) -> None:
    scene.provider.plays(step("Hello."), step(call("diagnostics", "c1")), step("Done."))
    async with scene.editor() as silent:
        session = await silent.new_session(scene.project)
        await silent.prompt(session)
    async with scene.editor(_meta=ANNOUNCED) as editor:
        editor.on[METHOD] = lambda params: {"diagnostics": []}
        await editor.call(method, {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        await editor.prompt(session)
        assert [asked["sessionId"] for asked in editor.asks(METHOD)] == [session]


async def test_editors_of_the_next_version_are_asked_too(draft: Scene) -> None:
    draft.provider.plays(step(call("diagnostics", "c1")), step("Done."))
    async with drafter(draft, _meta=ANNOUNCED) as editor:
        editor.on[METHOD] = lambda params: {"diagnostics": []}
        session = await new_session(draft, editor)
        await turn(editor, session)
        assert [asked["sessionId"] for asked in editor.asks(METHOD)] == [session]
    draft.provider.plays(step(call("diagnostics", "c2")), step("Done."))
    async with drafter(draft, _meta=ANNOUNCED) as editor:
        editor.on[METHOD] = lambda params: {"diagnostics": []}
        await editor.call("session/resume", resuming(draft, session))
        await turn(editor, session)
        assert [asked["sessionId"] for asked in editor.asks(METHOD)] == [session]


async def test_editors_of_the_next_version_without_the_capability_are_not_asked(draft: Scene) -> None:
    draft.provider.plays(step("Done."))
    async with drafter(draft) as editor:
        await turn(editor, await new_session(draft, editor))
    assert "diagnostics" not in tools_of(draft)
