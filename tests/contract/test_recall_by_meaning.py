"""Recall by meaning in the whole process: with an endpoint's embeddings, and with the local model."""

import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.config.settings import load_settings
from hermes_acp.core.errors import BadReply, ModelError, ModelUnavailable
from hermes_acp.core.ports.embedding_ports import cosine_similarity
from hermes_acp.models.embeddings.endpoint_embeddings import EndpointEmbedder
from hermes_acp.models.embeddings.local_embeddings import LocalEmbedder
from hermes_acp.models.wire.endpoints import Endpoint
from hermes_acp.skills.suggestions.generic_prompts import GENERIC_PROMPTS
from hermes_acp.skills.suggestions.skill_fit import FIT_THRESHOLD, standard_deviations_above
from hermes_acp.storage.search.vector_store import VectorStore
from tests.contract.json_server import Asked, JsonServer, json_server
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import call, step

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
THEMES = (("release", "publish", "pypi"), ("docker", "container", "disk"))
FITS_WELL = "This skill may fit: cut-release."
UNAIDED = "Semantic search is not available"
SKILL = "---\nname: cut-release\ndescription: Publish a version to PyPI.\n---\nTag, build, upload.\n"


def embeddings(asked: Asked) -> tuple[int, Any]:
    """Answer as an endpoint for embeddings does, in reverse order, with vectors for two subjects."""
    rows: list[dict[str, Any]] = []
    for index, text in enumerate(asked.body["input"]):
        themes = [3.0 * any(word in text.lower() for word in theme) for theme in THEMES]
        rows.append({"object": "embedding", "index": index, "embedding": [1.0, len(text) % 7 / 20, *themes]})
    return 200, {
        "object": "list",
        "data": rows[::-1],
        "model": asked.body["model"],
        "usage": {"total_tokens": 1},
    }


def configured(scene: Scene, server: JsonServer | None, more: str = "") -> None:
    if server:
        scene.configure(
            "recall: {embeddings: provider, provider: openai_compatible, model: small" + more + "}\n"
            f"providers: {{openai_compatible: {{base_url: '{server.url}/v1'}}}}\n"
        )
        scene.variables["OPENAI_BASE_URL"] = f"{server.url}/v1"
        scene.variables["OPENAI_API_KEY"] = "sk-embedding-key-000"
    scene.write(".agents/skills/cut-release/SKILL.md", SKILL)


async def until_known(scene: Scene, server: JsonServer, text: str) -> None:
    """Wait until a text was embedded and stored."""
    with anyio.fail_after(60):
        await server.until(
            lambda: any(text in each for asked in server.asked for each in asked.body["input"])
        )


async def has_marks(scene: Scene, session: str, *, known: bool = True) -> None:
    """Wait until a session is in the vector index, or is no longer in it."""
    with anyio.fail_after(60):
        while True:
            store = VectorStore(scene.home / "vectors.db", None)
            marks = await store.marks("session")
            await store.aclose()
            if bool(marks.get(session)) == known:
                return
            await anyio.sleep(0.02)


async def one_turn(scene: Scene, editor: FakeEditor, words: str) -> str:
    session = await editor.new_session(scene.project)
    assert await editor.prompt(session, words) == "end_turn"
    return session


async def test_an_endpoint_is_queried_in_its_format_and_its_answers_are_put_in_order() -> None:
    async with json_server(embeddings) as server:
        embedder = EndpointEmbedder(Endpoint(base_url=f"{server.url}/v1", api_key="sk-1234"), "small", 256)
        texts = [f"text {number} {'docker' if number % 2 else 'release'}" for number in range(40)]
        vectors = await embedder.embed(texts, "passage")
        await embedder.aclose()
    assert [len(asked.body["input"]) for asked in server.asked] == [32, 8]
    first = server.asked[0]
    assert (first.method, first.path, first.headers["authorization"]) == (
        "POST",
        "/v1/embeddings",
        "Bearer sk-1234",
    )
    assert first.body | {"input": []} == {
        "model": "small",
        "input": [],
        "encoding_format": "float",
        "dimensions": 256,
    }
    assert cosine_similarity(vectors[0], vectors[2]) > 0.9 > cosine_similarity(vectors[0], vectors[1])
    assert "small with 256 dimensions of 127.0.0.1" in embedder.name


@pytest.mark.parametrize(
    ("status", "answer", "error"),
    [
        (401, {"error": {"message": "bad key sk-1234"}}, ModelError),
        (200, {"data": []}, BadReply),
        (200, {"data": [{"index": 0, "embedding": [0.0, 0.0]}]}, BadReply),
        (200, {"answer": 1}, BadReply),
    ],
)
async def test_every_mistake_of_an_endpoint_has_a_name(
    status: int, answer: Any, error: type[ModelError]
) -> None:
    async with json_server(lambda _: (status, answer)) as server:
        embedder = EndpointEmbedder(Endpoint(base_url=f"{server.url}/v1", api_key="sk-1234"), "small")
        with pytest.raises(error) as raised:
            await embedder.embed(["text"], "query")
        await embedder.aclose()
    assert "sk-1234" not in raised.value.sentence()


async def test_a_matching_skill_is_named_after_an_unchanged_prompt(tmp_path: Path) -> None:
    prompts: list[tuple[str, ...]] = []
    for place in ("with", "without"):
        folder = tmp_path / place
        folder.mkdir()
        async with json_server(embeddings) as server:
            scene = Scene(folder.resolve())
            scene.provider.plays(*(step("Done.") for _ in range(3)))
            configured(scene, server if place == "with" else None)
            if place == "without":
                scene.configure("recall: {names_skills: false}\n")
            async with scene.editor() as editor:
                session = await editor.new_session(scene.project)
                for words in (
                    "Please release version 2",
                    "Now publish version 3",
                    "Why is the container full?",
                ):
                    assert await editor.prompt(session, words) == "end_turn"
                while place == "with" and FITS_WELL not in ShownSession(editor, session).thoughts:
                    scene.provider.plays(step("Done."))  # A turn waits for it only briefly.
                    assert await editor.prompt(session, "Please release one more version") == "end_turn"
                reported = FITS_WELL in ShownSession(editor, session).thoughts
        assert reported == (place == "with")
        requests = scene.provider.requests
        assert all(request.system == requests[0].system for request in requests)
        prompts.append(tuple(layer.replace(str(scene.project), "/project") for layer in requests[0].system))
        named = [line for line in plain_history(requests[-1]) if "- cut-release: Publish a version" in line]
        assert len(named) == (1 if place == "with" else 0)
    assert prompts[0] == prompts[1]


async def test_sessions_are_found_by_meaning_and_leave_the_index_when_deleted(tmp_path: Path) -> None:
    scene = Scene(tmp_path.resolve())
    scene.provider.plays(
        step("The docker build had no space left."),
        step(call("session_search", "c1", query="a full container", by_meaning=True)),
        step("So it was."),
    )
    async with json_server(embeddings) as server:
        configured(scene, server, ", names_skills: false")
        async with scene.editor() as editor:
            earlier = await one_turn(scene, editor, "What was wrong yesterday?")
            await until_known(scene, server, "no space left")
            await has_marks(scene, earlier)
            later = await one_turn(scene, editor, "Where did we talk of it?")
            (card,) = ShownSession(editor, later).cards.values()
            assert card["rawOutput"]["text"].startswith(f"{earlier} #2 (agent")
            await editor.call("session/delete", {"sessionId": earlier})
            await has_marks(scene, earlier, known=False)
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer sk-embedding-key-000"}


async def test_an_endpoint_that_never_answers_delays_no_turn_and_a_failure_is_reported_once(
    tmp_path: Path,
) -> None:
    silent, refusing = tmp_path / "silent", tmp_path / "refusing"
    for place, answer in ((silent, (0, None)), (refusing, (500, {"error": {"message": "broken"}}))):
        place.mkdir()
        scene = Scene(place.resolve())
        scene.provider.plays(*(step("Done.") for _ in range(3)))
        async with json_server(lambda _, answer=answer: answer) as server:
            configured(scene, server)
            async with scene.editor() as editor:
                session = await editor.new_session(scene.project)
                for words in ("Please release version 2", "Now publish version 3", "And version 4, please"):
                    assert await editor.prompt(session, words) == "end_turn"
                while place == refusing and UNAIDED not in ShownSession(editor, session).thoughts:
                    scene.provider.plays(step("Done."))  # No turn waits for it to fail.
                    assert await editor.prompt(session, "Once more: release it") == "end_turn"
                scene.provider.plays(step("Done."))
                assert await editor.prompt(session, "And publish it, please") == "end_turn"
                reported = ShownSession(editor, session).thoughts.count(UNAIDED)
        assert reported == (0 if place == silent else 1)


async def test_the_command_line_searches_by_meaning_and_doctor_recreates_the_vectors(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path.resolve())
    scene.provider.plays(step("The docker build had no space left."))
    async with json_server(embeddings) as server:
        configured(scene, server)
        async with scene.editor() as editor:
            session = await one_turn(scene, editor, "What was wrong yesterday?")
        arguments = "sessions search --by-meaning a full container"
        assert session in await printed(scene, arguments)
        server.asked.clear()
        assert "The search index holds all" in await printed(scene, "doctor --rebuild")
        assert any("no space left" in text for asked in server.asked for text in asked.body["input"])
        assert session in await printed(scene, arguments)


async def printed(scene: Scene, arguments: str) -> str:
    command = [sys.executable, "-m", "hermes_acp", *shlex.split(arguments)]
    with anyio.fail_after(60):
        done = await anyio.run_process(command, env=scene.variables, cwd=scene.project, check=False)
    return done.stdout.decode() + done.stderr.decode()


async def test_the_local_model_recognises_meanings_in_several_languages() -> None:
    embedder = LocalEmbedder()
    skill = "cut release: Cut a release: bump the version, write the changelog, tag and publish to PyPI."
    asked = (
        "Please publish version 2.3 of the package to PyPI",
        "Wir müssen eine neue Version auf PyPI veröffentlichen",
        "fix the typo here",
    )
    with anyio.fail_after(60):
        anchors = await embedder.embed(GENERIC_PROMPTS, "query")
        (about,) = await embedder.embed([skill], "passage")
        prompts = await embedder.embed(asked, "query")
        await embedder.aclose()
    assert [standard_deviations_above(prompt, about, anchors) >= FIT_THRESHOLD for prompt in prompts] == [
        True,
        True,
        False,
    ]
    assert {len(vector) for vector in prompts} == {384}


async def test_an_abandoned_query_does_not_answer_the_next_one() -> None:
    embedder = LocalEmbedder()
    with anyio.fail_after(60):
        (expected,) = await embedder.embed(["a kettle"], "query")
        with anyio.move_on_after(0.001):
            await embedder.embed(["something quite different " * 40] * 4, "passage")
        (again,) = await embedder.embed(["a kettle"], "query")
        await embedder.aclose()
    assert cosine_similarity(expected, again) == pytest.approx(1)


async def test_a_model_that_crashes_is_reported_and_restarted() -> None:
    dying = LocalEmbedder((sys.executable, "-c", "raise SystemExit(3)"))
    for _ in range(2):
        with anyio.fail_after(60), pytest.raises(ModelUnavailable, match="stopped"):
            await dying.embed(["text"], "query")
    await dying.aclose()


def test_settings_are_read_with_the_extra_installed(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("recall: {embeddings: local}\n", encoding="utf-8")
    assert load_settings(environment_of({"HERMES_HOME": str(tmp_path)})).recall.embeddings == "local"
