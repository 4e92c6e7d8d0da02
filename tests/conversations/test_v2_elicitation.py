"""Questions that only the user can answer, in the draft of version 2."""

from typing import Any

import anyio
import pytest

from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.draft_editor import Shown, drafter, idles, new_session, saying, turn
from tests.conversations.scripted_provider import call, step
from tests.conversations.test_elicitation import CREATE, ENDINGS, FORM, PAGE, URL, accepts, asks
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio


async def test_a_question_is_a_form_and_the_session_waits_for_its_user(draft: Scene) -> None:
    draft.provider.plays(asks(choices=["red", "blue"]), step("Blue it is."))
    async with drafter(draft, elicitation=FORM) as editor:
        editor.on[CREATE] = accepts(choice="blue", answer=" the dark one ")
        session = await new_session(draft, editor)
        assert (await turn(editor, session))["stopReason"] == "end_turn"
        (asked,) = editor.asks(CREATE)
        shown = Shown(editor, session)
    assert (asked["mode"], asked["sessionId"], asked["toolCallId"]) == ("form", session, "c1")
    assert asked["requestedSchema"]["properties"]["choice"]["enum"] == ["red", "blue"]
    assert shown.states == ["running", "requires_action", "running", "idle"]
    assert plain_history(draft.provider.requests[1])[-1].endswith("answered: blue\nthe dark one")


async def test_a_page_is_opened_and_closed_with_the_turn(draft: Scene) -> None:
    draft.provider.plays(asks(url=PAGE), step("Now look."))
    async with drafter(draft, elicitation={**FORM, **URL}) as editor:
        editor.on[CREATE] = lambda params: {"action": "accept"}
        session = await new_session(draft, editor)
        await turn(editor, session)
        (asked,) = editor.asks(CREATE)
        await editor.until(lambda: "elicitation/complete" in [method for method, _ in editor.notified])
        completed = [params for method, params in editor.notified if method == "elicitation/complete"]
    assert (asked["mode"], asked["url"]) == ("url", PAGE)
    assert completed == [{"elicitationId": asked["elicitationId"]}]
    assert "The user opened the page" in plain_history(draft.provider.requests[1])[-1]


@pytest.mark.parametrize("name", ENDINGS)
async def test_an_invalid_answer_is_reported_as_such(draft: Scene, name: str) -> None:
    answer, said = ENDINGS[name]
    draft.provider.plays(asks(choices=["red"]), step("Then not."))
    async with drafter(draft, elicitation=FORM) as editor:
        editor.on[CREATE] = answer
        assert (await turn(editor, await new_session(draft, editor)))["stopReason"] == "end_turn"
    assert said in plain_history(draft.provider.requests[1])[-1]


@pytest.mark.parametrize("announced", [{}, {"elicitation": {}}, {"elicitation": URL}])
async def test_an_editor_without_forms_is_not_asked(draft: Scene, announced: dict[str, Any]) -> None:
    draft.provider.plays(asks(), step("Which colour do you want?"))
    async with drafter(draft, **announced) as editor:
        session = await new_session(draft, editor)
        assert (await turn(editor, session))["stopReason"] == "end_turn"
        assert editor.asked == []
        assert Shown(editor, session).states == ["running", "idle"]


async def test_cancelling_while_the_question_is_open(draft: Scene) -> None:
    draft.provider.plays(step(call("ask_user", "c1", question="Which colour?")), step("Still here."))

    async def wait_for_ever(params: Json) -> None:
        await anyio.sleep_forever()

    async with drafter(draft, elicitation=FORM) as editor:
        editor.on[CREATE] = wait_for_ever
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await editor.until(lambda: editor.asks(CREATE))
        editor.cancel(session)
        await editor.until(lambda: editor.given_up and idles(editor, session))
        assert idles(editor, session)[-1]["stopReason"] == "cancelled"
        assert Shown(editor, session).states == ["running", "requires_action", "idle"]
        assert (await turn(editor, session, "the next"))["stopReason"] == "end_turn"
