"""Skills with the same meaning are reported, and skills and sessions are found by meaning, from every frontend."""

from pathlib import Path

import pytest

from hermes_acp.models.embeddings.local_embeddings import LocalEmbedder
from hermes_acp.recall.hybrid_search import SEMANTIC_UNAVAILABLE
from hermes_acp.skills.suggestions.generic_prompts import GENERIC_PROMPTS
from hermes_acp.skills.suggestions.skill_similarity import DUPLICATE_THRESHOLD, SimilarityMeasure
from tests.contract.json_server import Asked, json_server
from tests.contract.test_recall_by_meaning import (
    configured,
    embeddings,
    has_marks,
    one_turn,
    printed,
    until_known,
)
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession, allow
from tests.conversations.scripted_provider import call, step

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
ASK = "session/request_permission"
SHIP = "---\nname: ship-wheel\ndescription: Bring a wheel to the world: release it.\n---\nDo it.\n"
OTHER = "---\nname: slim-images\ndescription: Make a container small.\n---\nDo it.\n"
KIN = "cut-release and ship-wheel are very similar in meaning: consider merging them."


async def test_duplicates_are_recognised_by_meaning(tmp_path: Path) -> None:
    scene = Scene(tmp_path.resolve())
    text = "---\nname: go-public\ndescription: Put a build online, that is to publish it.\n---\nDo it.\n"
    scene.provider.plays(
        step("Hi."),
        step(call("skill_manage", "w1", action="create", name="go-public", reason="why", text=text)),
        step("As you like."),
    )
    async with json_server(embeddings) as server:
        configured(scene, server)
        for name, document in (("ship-wheel", SHIP), ("slim-images", OTHER)):
            scene.write(f".agents/skills/{name}/SKILL.md", document)
        shown = await printed(scene, "skills")
        assert KIN in shown
        assert "slim-images and" not in shown
        assert "and slim-images" not in shown
        async with scene.editor() as editor:
            editor.on[ASK] = allow("reject_once")
            session = await one_turn(scene, editor, "Hello")
            await editor.prompt(session, "/skills")
            assert KIN in ShownSession(editor, session).text
            await editor.prompt(session, "Write it down")
            asked = [str(each) for each in editor.asks(ASK) if "go-public" in str(each)]
            assert "very similar to the skill ship-wheel in meaning" in asked[0]
            assert "slim-images" not in asked[0]


async def test_without_a_working_model_letters_are_compared(tmp_path: Path) -> None:
    def broken(asked: Asked) -> tuple[int, object]:
        return 500, {"error": {"message": "broken"}}

    scene = Scene(tmp_path.resolve())
    async with json_server(broken) as server:
        for place in (None, server):
            configured(scene, place)
            for name in ("tidy-tables", "tidy-table"):
                scene.write(
                    f".agents/skills/{name}/SKILL.md",
                    f"---\nname: {name}\ndescription: Tidies tables up.\n---\nDo it.\n",
                )
            shown = await printed(scene, "skills")
            assert "tidy-table and tidy-tables are very similar (" in shown
            assert ("Semantic search is not available" in shown) == (place is not None)
            found = await printed(scene, "skills search --by-meaning tables")
            assert "tidy-table (" in found
            assert (SEMANTIC_UNAVAILABLE in found) == (place is None)


async def test_skills_are_searched_on_the_command_line(tmp_path: Path) -> None:
    scene = Scene(tmp_path.resolve())
    async with json_server(embeddings) as server:
        configured(scene, server)
        scene.write(".agents/skills/slim-images/SKILL.md", OTHER)
        assert (await printed(scene, "skills search pypi")).startswith(
            "cut-release (.agents/skills/cut-release): "
        )
        assert await printed(scene, "skills search disk") == "hermes-acp: Nothing was found.\n"
        assert "slim-images (" in await printed(scene, "skills search --by-meaning disk")
        assert '"name": "cut-release"' in await printed(scene, "skills --json search pypi")
        assert "no word to search for" in await printed(scene, "skills search '***'")


async def test_an_editor_searches_sessions_by_meaning(tmp_path: Path) -> None:
    scene = Scene(tmp_path.resolve())
    scene.provider.plays(step("The docker build had no space left."))
    query = {"query": "a full container", "byMeaning": True}
    async with json_server(embeddings) as server:
        configured(scene, server)
        async with scene.editor() as editor:
            earlier = await one_turn(scene, editor, "What was wrong yesterday?")
            await until_known(scene, server, "no space left")
            await has_marks(scene, earlier)
            found = await editor.call("_hermes/sessions/search", query)
            assert [each["sessionId"] for each in found["found"]][:1] == [earlier]
            assert "note" not in found
            plain = await editor.call("_hermes/sessions/search", {"query": "a full container"})
            assert plain["found"] == []
        scene.configure("")
        async with scene.editor() as editor:
            found = await editor.call("_hermes/sessions/search", query)
            assert (found["found"], found["note"]) == ([], SEMANTIC_UNAVAILABLE)


async def test_the_local_model_distinguishes_duplicates_from_related_skills() -> None:
    embedder = LocalEmbedder()
    texts = (
        "bindings: Write Python bindings for Rust code using pyo3.",
        "crates: Expose a Rust crate to Python with PyO3 and maturin.",
        "helm: Deploy a service to the Kubernetes cluster with Helm charts.",
        "docker: Make a container image smaller and safer with multi-stage builds.",
    )
    vectors = await embedder.embed(texts, "passage")
    anchors = await embedder.embed(GENERIC_PROMPTS, "query")
    await embedder.aclose()
    names = [text.partition(":")[0] for text in texts]
    measure = SimilarityMeasure(dict(zip(names, vectors, strict=True)), anchors)
    assert [set(pair[1:]) for pair in measure.pairs()] == [{"bindings", "crates"}]
    assert measure.similarity("helm", "docker") < DUPLICATE_THRESHOLD
