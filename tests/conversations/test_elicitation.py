"""Questions that only the user can answer."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from hermes_protocol.errors import INTERNAL_ERROR, PeerError
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
CREATE = "elicitation/create"
FORM: Json = {"form": {}}
URL: Json = {"url": {}}
PAGE = "https://example.com/device?code=1"


def accepts(**content: object) -> Callable[[Json], Json]:
    return lambda params: {"action": "accept", "content": content}


def asks(**arguments: object) -> Any:
    return step(call("ask_user", "c1", question="Which colour?", **arguments))


async def test_a_question_is_a_flat_form_linked_to_its_card(scene: Scene) -> None:
    scene.provider.plays(asks(choices=["red", "blue", "red"]), step("Blue it is."))
    async with scene.editor(elicitation=FORM) as editor:
        editor.on[CREATE] = accepts(choice="blue", answer="  the dark one ")
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        (asked,) = editor.asks(CREATE)
        card = ShownSession(editor, session).cards["c1"]
    assert (asked["mode"], asked["sessionId"], asked["toolCallId"]) == ("form", session, "c1")
    assert asked["message"] == "Which colour?"
    properties = asked["requestedSchema"]["properties"]
    assert properties["choice"]["enum"] == ["red", "blue"]
    assert {each["type"] for each in properties.values()} == {"string"}
    assert "required" not in asked["requestedSchema"]
    assert (card["title"], card["kind"], card["status"]) == ("Ask: Which colour?", "other", "completed")
    last = plain_history(scene.provider.requests[1])[-1]
    assert last == "ask_user: The user answered: blue\nthe dark one"


async def test_without_choices_the_answer_is_required_free_text(scene: Scene) -> None:
    scene.provider.plays(asks(), step("I see."))
    async with scene.editor(elicitation=FORM) as editor:
        editor.on[CREATE] = accepts(answer="none of them")
        await editor.prompt(await editor.new_session(scene.project))
        (asked,) = editor.asks(CREATE)
    assert list(asked["requestedSchema"]["properties"]) == asked["requestedSchema"]["required"] == ["answer"]
    assert plain_history(scene.provider.requests[1])[-1].endswith("answered: none of them")


def raises(params: Json) -> Json:
    raise PeerError(INTERNAL_ERROR, "the form crashed")


ENDINGS: dict[str, tuple[Callable[[Json], Any], str]] = {
    "declined": (lambda params: {"action": "decline"}, "declined to answer"),
    "cancelled": (lambda params: {"action": "cancel"}, "closed the question"),
    "an empty form": (accepts(answer=" ", choice=""), "closed the question"),
    "an answer that is no text": (accepts(answer=7), "closed the question"),
    "no content": (lambda params: {"action": "accept", "content": None}, "closed the question"),
    "an action of another time": (lambda params: {"action": "_later"}, "No user can be asked"),
    "an error": (raises, "No user can be asked"),
    "nonsense": (lambda params: [1], "No user can be asked"),
}


@pytest.mark.parametrize("name", ENDINGS)
async def test_an_invalid_answer_is_reported_as_such(scene: Scene, name: str) -> None:
    answer, said = ENDINGS[name]
    scene.provider.plays(asks(choices=["red"]), step("Then not."))
    async with scene.editor(elicitation=FORM) as editor:
        editor.on[CREATE] = answer
        assert await editor.prompt(await editor.new_session(scene.project)) == "end_turn"
    last = plain_history(scene.provider.requests[1])[-1]
    assert said in last
    assert "answered" not in last.replace("declined to answer", "")


@pytest.mark.parametrize("announced", [{}, {"elicitation": {}}, {"elicitation": URL}])
async def test_an_editor_without_forms_is_not_asked(scene: Scene, announced: Json) -> None:
    scene.provider.plays(asks(), step("Which colour do you want?"))
    async with scene.editor(**announced) as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert editor.asked == []
        assert ShownSession(editor, session).cards["c1"]["status"] == "failed"
    assert "Put the question into your answer" in plain_history(scene.provider.requests[1])[-1]


async def test_a_page_is_opened_by_the_editor_and_closed_with_the_turn(scene: Scene) -> None:
    scene.provider.plays(asks(url=PAGE), step("Now look."))
    async with scene.editor(elicitation={**FORM, **URL}) as editor:
        editor.on[CREATE] = lambda params: {"action": "accept"}
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        (asked,) = editor.asks(CREATE)
        completed = [params for method, params in editor.notified if method == "elicitation/complete"]
    assert (asked["mode"], asked["url"], asked["toolCallId"]) == ("url", PAGE, "c1")
    assert completed == [{"elicitationId": asked["elicitationId"]}]
    assert "The user opened the page" in plain_history(scene.provider.requests[1])[-1]


async def test_pages_of_two_sessions_have_different_ids(scene: Scene) -> None:
    scene.provider.plays(asks(url=PAGE), step("Now look."), asks(url=PAGE), step("And there."))
    async with scene.editor(elicitation={**FORM, **URL}) as editor:
        editor.on[CREATE] = lambda params: {"action": "accept"}
        for _ in range(2):
            await editor.prompt(await editor.new_session(scene.project))
        names = [asked["elicitationId"] for asked in editor.asks(CREATE)]
    assert len(set(names)) == 2


async def test_a_page_that_is_not_opened_is_not_closed(scene: Scene) -> None:
    scene.provider.plays(asks(url=PAGE), step("Then not."))
    async with scene.editor(elicitation=URL) as editor:
        editor.on[CREATE] = lambda params: {"action": "decline"}
        await editor.prompt(await editor.new_session(scene.project))
        assert "elicitation/complete" not in [method for method, _ in editor.notified]
    assert "declined" in plain_history(scene.provider.requests[1])[-1]


async def test_a_page_is_shown_in_a_form_if_the_editor_opens_none(scene: Scene) -> None:
    scene.provider.plays(asks(url=PAGE), step("Now look."))
    async with scene.editor(elicitation=FORM) as editor:
        editor.on[CREATE] = accepts(choice="Done")
        await editor.prompt(await editor.new_session(scene.project))
        (asked,) = editor.asks(CREATE)
    assert asked["mode"] == "form"
    assert PAGE in asked["message"]
    assert plain_history(scene.provider.requests[1])[-1].endswith("answered: Done")


async def test_an_invalid_address_is_never_opened(scene: Scene) -> None:
    scene.provider.plays(asks(url="javascript:alert(1)"), step("I see."))
    async with scene.editor(elicitation=URL) as editor:
        await editor.prompt(await editor.new_session(scene.project))
        assert editor.asked == []
    assert "is not a web page" in plain_history(scene.provider.requests[1])[-1]


async def test_cancelling_while_the_question_is_open(scene: Scene) -> None:
    scene.provider.plays(asks(), step("Still here."))

    async def wait_for_ever(params: Json) -> None:
        await anyio.sleep_forever()

    async with scene.editor(elicitation=FORM) as editor:
        editor.on[CREATE] = wait_for_ever
        session = await editor.new_session(scene.project)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stopped, editor, session)
            await editor.until(lambda: editor.asks(CREATE))
            editor.cancel(session)
        await editor.until(lambda: editor.given_up)
        assert ShownSession(editor, session).cards["c1"]["status"] == "failed"
        assert await editor.prompt(session, "the next") == "end_turn"
    assert plain_history(scene.provider.requests[-1])[-1] == "user: the next"


async def stopped(editor: FakeEditor, session: str) -> None:
    assert await editor.prompt(session) == "cancelled"


async def test_a_question_needs_no_approval_in_any_mode(scene: Scene) -> None:
    scene.provider.plays(asks(), step("I see."))
    async with scene.editor(elicitation=FORM) as editor:
        editor.on[CREATE] = accepts(answer="yes")
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, "plan")
        await editor.prompt(session)
        assert [method for method, _ in editor.asked] == [CREATE]
