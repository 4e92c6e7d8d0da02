"""Switching between two vendors' real formats in the middle of a turn, and leaving an endpoint that went silent.

The scripted server rejects what the vendors reject: foreign signatures, calls without outcomes, and IDs with other
characters.
"""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from hermes_acp.frontends.acp.messages.conversation import ANSWER_RESTARTED
from tests.contract.provider_suite import KEY_VARIABLES, url_of
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession
from tests.model_server import Fault, ModelServer, Reply, ToolCall, serve
from tests.model_server.anthropic_requests import sign

pytestmark = pytest.mark.anyio
DOWN = Reply(fault=Fault(status=529))
THOUGHT = "What could be in that file?"
RING = ("anthropic", "openai_compatible", "gemini", "openai_responses", "bedrock", "anthropic")


def connect(scene: Scene, servers: Sequence[tuple[str, ModelServer]], more: str = "") -> None:
    """Configure a model on each server, the first in use."""
    scene.is_connected_for_real = True
    for name in ("OPENAI_BASE_URL", "HERMES_MODEL"):
        scene.variables.pop(name, None)
    scene.variables |= {KEY_VARIABLES[leaf]: "Zq9wverysecretXk42" for leaf, _ in servers}
    sections = "\n".join(
        f"  {leaf}: {{base_url: '{url_of(server, leaf)}'{more}}}" for leaf, server in servers
    )
    (first, _), *others = servers
    behind = ", ".join(f"{leaf}/scripted-large" for leaf, _ in others)
    scene.configure(
        f"provider: {first}\nmodel: scripted-large\nfallbacks: [{behind}]\nproviders:\n{sections}\n"
    )


@pytest.mark.parametrize(("first", "second"), list(pairwise(RING)))
async def test_a_turn_continues_at_another_vendor(scene: Scene, first: str, second: str) -> None:
    scene.write("a", "alpha\n")
    reading = ToolCall("read_file", '{"path": "a"}')
    thinking = Reply(thinking=THOUGHT, text="Let me look.", tool_calls=(reading, reading))
    answers = [Reply(thinking="Hm.", tool_calls=(reading,)), Reply(text="Alpha."), Reply(text="Still alpha.")]
    async with serve([thinking, DOWN, DOWN]) as near, serve(answers) as far:
        connect(scene, ((first, near), (second, far)))
        async with scene.editor() as editor:
            session = await editor.new_session(scene.project)
            assert await editor.prompt(session, "Read") == "end_turn"
            assert await editor.prompt(session, "And now?") == "end_turn"
            reported = ShownSession(editor, session)
        assert [card["status"] for card in reported.cards.values()] == ["completed"] * 3
        assert reported.text == "Let me look.Alpha.Still alpha."
        assert f"Continuing with scripted-large ({second})" in reported.thoughts
        assert (len(near.requests), len(far.requests)) == (3, 3)
        assert not any(sign(THOUGHT) in str(request.body) for request in far.requests)


async def test_a_silent_model_is_retried_once_and_then_left(scene: Scene) -> None:
    midway = Reply(text=("Half a ", "word"), fault=Fault(silent_after=1))
    alive = Reply(text="x", fault=Fault(malformed_after=0, malformed=": still here\n\n", silent_after=0))
    async with serve([midway, alive]) as near, serve([Reply(text="A whole word.")]) as far:
        bounds = ", silence_timeout_s: 0.1, first_word_timeout_s: 0.5"
        connect(scene, (("openai_compatible", near), ("anthropic", far)), bounds)
        async with scene.editor() as editor:
            session = await editor.new_session(scene.project)
            assert await editor.prompt(session) == "end_turn"
            reported = ShownSession(editor, session)
        assert reported.thoughts.index("silent for 0.1 s") < reported.thoughts.index("silent for 0.5 s")
        assert "Continuing with scripted-large (anthropic)" in reported.thoughts
        assert reported.text == f"Half a {ANSWER_RESTARTED}A whole word."
        assert "Half" not in str(far.requests[0].body)
