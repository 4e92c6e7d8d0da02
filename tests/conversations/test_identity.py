"""The agent's identity: our text or the user's, and whether anybody can be asked."""

from pathlib import Path
from typing import get_args

import anyio
import pytest

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.agent.surface_hints import SURFACE_HINTS
from hermes_acp.core.event_types import Surface
from hermes_acp.core.messages import TextPart
from hermes_acp.frontends.library.approval_gate import ApprovalGate
from tests.conversations.app_scene import Scene
from tests.conversations.scripted_provider import step

pytestmark = pytest.mark.anyio
SOUL = "You are Ada. You speak like an engineer of the nineteenth century."


async def first_layers(scene: Scene) -> tuple[str, ...]:
    """Return the first layers of the prompt of a session in an editor."""
    scene.provider.plays(step("Hello."))
    async with scene.editor() as editor:
        assert await editor.prompt(await editor.new_session(scene.project)) == "end_turn"
    return tuple(scene.provider.requests[-1].system)


async def test_our_own_text_does_not_claim_an_editor(tmp_path: Path) -> None:
    first, *_ = await first_layers(Scene(tmp_path.resolve()))
    assert first.startswith("You are Hermes, a coding agent. You work in")
    assert first.endswith("ask.")
    assert "editor" not in first


async def test_a_soul_file_in_the_home_folder_is_the_identity_and_one_in_a_project_is_not(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path.resolve())
    scene.home.mkdir()
    (scene.home / "SOUL.md").write_text(f"{SOUL}\n", encoding="utf-8")
    scene.write("SOUL.md", "You are Mallory.")
    first, *others = await first_layers(scene)
    assert first.startswith(f"{SOUL}\n\nYou work in the user's workspace")
    assert "Hermes" not in first
    assert not [layer for layer in others if SOUL in layer]
    assert [layer for layer in others if "Mallory" in layer]
    assert "Mallory" not in first


async def test_an_empty_soul_file_changes_nothing(tmp_path: Path) -> None:
    scene = Scene(tmp_path.resolve())
    scene.home.mkdir()
    (scene.home / "SOUL.md").write_text(" \n", encoding="utf-8")
    assert (await first_layers(scene))[0].startswith("You are Hermes")


async def test_without_a_client_the_prompt_says_that_nobody_may_be_there_to_ask(tmp_path: Path) -> None:
    scene = Scene(tmp_path.resolve())
    scene.provider.plays(step("Hello."))
    app = scene.open_app()
    with anyio.fail_after(30):
        async with background_tasks(app.keep):
            session = await app.sessions.create(
                str(scene.project), (), lambda _, cwd, roots: app.open_workspace(cwd, roots)
            )
            await session.prompt((TextPart("Hi"),), ApprovalGate(None))
            await app.aclose()
    assert "nobody may be there to ask" in scene.provider.requests[-1].system[0]


@pytest.mark.parametrize(
    ("announced", "said"),
    [({}, "in the user's editor"), ({"surface": "chat"}, "in a chat app"), ({"surface": 7}, "editor")],
)
async def test_the_prompt_names_the_surface_of_the_session(
    tmp_path: Path, announced: dict[str, object], said: str
) -> None:
    scene = Scene(tmp_path.resolve())
    scene.provider.plays(step("Hello."), step("Hello again."))
    async with scene.editor(_meta={"hermes": announced}) as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
    async with scene.editor(_meta={"hermes": {"surface": "voice"}}) as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        assert await editor.prompt(session) == "end_turn"
    first, second = (request.system for request in scene.provider.requests[-2:])
    assert said in first[-1]
    assert first == second


@pytest.mark.parametrize("surface", get_args(Surface))
def test_the_hint_about_a_surface_is_one_short_paragraph(surface: Surface) -> None:
    hint = SURFACE_HINTS.get(surface, "")
    assert bool(hint) == bool(surface)
    assert len(hint) < 400
    assert "\n" not in hint
