"""Titles that the model gives sessions."""

import pytest

from hermes_acp.core.errors import ModelUnavailable
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import step

pytestmark = pytest.mark.anyio
PROMPT = "please have a look at why the parser drops commas"


@pytest.fixture
def naming(scene: Scene) -> Scene:
    """Return a scene in which the model gives sessions their titles."""
    scene.configure("titles: model\n")
    return scene


def titles(editor: FakeEditor, session: str) -> list[str]:
    return [
        update["title"]
        for update in ShownSession(editor, session).of("session_info_update")
        if "title" in update
    ]


async def test_the_model_titles_a_session_once_after_its_first_turn(naming: Scene) -> None:
    naming.provider.plays(step("It was a typo."), step('**"Parser drops commas"**\n'), step("Sure."))
    async with naming.editor() as editor:
        session = await editor.new_session(naming.project)
        assert await editor.prompt(session, PROMPT) == "end_turn"
        assert titles(editor, session) == [PROMPT, "Parser drops commas"]
        assert await editor.prompt(session, "Thanks") == "end_turn"
        assert titles(editor, session) == [PROMPT, "Parser drops commas"]
    asked = naming.provider.requests[1]
    assert asked.tools == ()
    assert PROMPT in str(asked.messages)
    assert "It was a typo." in str(asked.messages)
    assert naming.provider.requests[2].system == naming.provider.requests[0].system


async def test_the_cost_of_a_title_is_in_the_total_of_its_session(naming: Scene) -> None:
    naming.configure("titles: model\nmodels: {scripted-1: {input_usd: 1000, output_usd: 1000}}\n")
    naming.provider.plays(step("It was a typo."), step("Parser drops commas"))
    async with naming.editor() as editor:
        session = await editor.new_session(naming.project)
        await editor.prompt(session, PROMPT)
        amounts = [update["cost"]["amount"] for update in ShownSession(editor, session).of("usage_update")]
        assert amounts == [0.015, 0.03]


async def test_a_failed_title_does_not_fail_the_turn(naming: Scene) -> None:
    naming.provider.plays(step("It was a typo."), step(ModelUnavailable("Gone.")))
    async with naming.editor() as editor:
        session = await editor.new_session(naming.project)
        assert await editor.prompt(session, PROMPT) == "end_turn"
        assert titles(editor, session) == [PROMPT]


async def test_a_rambling_title_is_not_used(naming: Scene) -> None:
    naming.provider.plays(step("It was a typo."), step("Certainly! " + "Let me think about a title. " * 9))
    async with naming.editor() as editor:
        session = await editor.new_session(naming.project)
        assert await editor.prompt(session, PROMPT) == "end_turn"
        assert titles(editor, session) == [PROMPT]


async def test_the_model_is_not_asked_if_the_first_line_is_the_title(scene: Scene) -> None:
    scene.provider.plays(step("It was a typo."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, PROMPT) == "end_turn"
    assert len(scene.provider.requests) == 1
