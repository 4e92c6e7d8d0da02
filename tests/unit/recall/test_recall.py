"""Merging two rankings, searching by meaning with a fallback to words, and explained skill suggestions."""

from array import array
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from hermes_acp.core.errors import BadRequest, HermesError, ModelUnavailable
from hermes_acp.core.events import Event, SessionOpened, StepEnded, TextSaid, UserSaid
from hermes_acp.core.messages import TextPart
from hermes_acp.core.ports.embedding_ports import Purpose, unit
from hermes_acp.core.ports.recall_ports import RecallQuery, SearchHit, SearchResults
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.recall.hybrid_search import (
    SEMANTIC_UNAVAILABLE,
    HybridSearch,
    SemanticSearch,
    fuse_rankings,
)
from hermes_acp.skills.skill_collection import Skill, collect_skills
from hermes_acp.skills.skill_folders import find_skill_folders
from hermes_acp.skills.suggestions.combined_fit import MEANING_ALONE, MIN_SCORE, fitting_skills, is_likely
from hermes_acp.skills.suggestions.skill_fit import (
    FIT_THRESHOLD,
    Meaning,
    compare_meanings,
    standard_deviations_above,
)
from hermes_acp.skills.suggestions.skill_search import search_skills
from hermes_acp.skills.suggestions.skill_suggestions import SkillSuggester
from hermes_acp.skills.suggestions.skill_vectors import index_skills
from hermes_acp.skills.suggestions.word_ranking import WordRanking, stem
from hermes_acp.storage.search.passage_index import PassageIndex
from hermes_acp.storage.search.search_index import SearchIndex
from hermes_acp.storage.search.semantic_index import SemanticIndex
from hermes_acp.storage.search.vector_indexing import VectorIndexer
from hermes_acp.storage.search.vector_store import VectorStore
from hermes_acp.storage.transcript import Transcript
from tests.unit.tools.tool_calling import MemoryWorkspace

pytestmark = pytest.mark.anyio
PATIENCE_S = 60
THEMES = (
    ("release", "publish", "version", "pypi"),
    ("container", "docker", "image", "disk"),
    ("soup", "tomato"),
)


class ThemeEmbedder:
    """Knows a few subjects; texts on one subject are similar."""

    name = "themes"

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.trouble: HermesError | None = None

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> "Sequence[array[float]]":
        if self.trouble:
            raise self.trouble
        self.embedded += texts
        return [self._vector(text.lower()) for text in texts]

    def _vector(self, text: str) -> "array[float]":
        return unit(
            [1.0, len(text) % 7 / 20, *(2.0 * any(word in text for word in theme) for theme in THEMES)]
        )

    async def aclose(self) -> None:
        return


def find(session_id: str, position: int) -> SearchHit:
    return SearchHit(session_id, "", "/project", 0.0, position, "user", "")


class Words:
    """A word search that returns prepared results."""

    def __init__(self, *found: SearchHit) -> None:
        self.found = found

    async def search(self, asked: RecallQuery) -> SearchResults:
        if not any(map(str.isalnum, asked.text)):
            raise BadRequest("There is no word.")
        return SearchResults(self.found)


def begin(home: Path, session_id: str, *events: Event) -> None:
    transcript = Transcript.create(home / "sessions" / f"{session_id}.jsonl")
    transcript.append(SessionOpened(session_id, "/project", ("/project",), 1000.0))
    for event in events:
        transcript.append(event)
    transcript.close()


def said(text: str) -> UserSaid:
    return UserSaid("m", (TextPart(text),))


class Place:
    """A home with sessions, skills and vectors."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.index = SearchIndex(home, home / "sessions")
        self.embedder = ThemeEmbedder()
        self.vectors = VectorStore(home / "vectors.db", self.embedder.name)
        self.words = PassageIndex(self.index)
        self.indexer = VectorIndexer(self.vectors, self.embedder, self.words, 100)

    def search(self) -> HybridSearch:
        meaning = SemanticSearch(self.vectors, self.embedder, self.words, self.indexer.count_unknown)
        return HybridSearch(self.index, lambda: meaning)

    async def found(self, text: str, **more: Any) -> list[tuple[str, int]]:
        finds = await self.search().search(RecallQuery(text, by_meaning=True, **more))
        return [(each.session_id, each.position) for each in finds.found]

    def skill(self, name: str, about: str, body: str = "Do it.") -> None:
        folder = self.home / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: {about}\n---\n{body}\n", encoding="utf-8"
        )

    def skills(self, workspace: Workspace | None = None) -> tuple[Skill, ...]:
        return collect_skills(find_skill_folders("/", self.home, Path("/none")), frozenset()).skills

    async def aclose(self) -> None:
        self.index.close()
        await self.vectors.aclose()


@pytest.fixture
async def place(tmp_path: Path) -> Any:
    place = Place(tmp_path)
    begin(
        tmp_path,
        "ses_disk",
        said("The docker build fails"),
        TextSaid("a", "The disk was full."),
        StepEnded("a"),
    )
    begin(
        tmp_path,
        "ses_soup",
        said("How is tomato soup made?"),
        TextSaid("a", "With tomatoes, slowly."),
        StepEnded("a"),
    )
    await place.index.catch_up()
    yield place
    await place.aclose()


def test_results_high_in_both_rankings_come_first() -> None:
    one, two, three = find("a", 1), find("b", 1), find("c", 1)
    assert fuse_rankings(([one, two], [three, two]), 9) == (two, one, three)
    assert fuse_rankings(([one, two], []), 1) == (one,)
    assert len(fuse_rankings(([find("a", number) for number in range(9)],), 9)) == 3


async def test_a_search_by_meaning_finds_texts_without_a_common_word(place: Place) -> None:
    assert await place.indexer.index_sessions() == 0
    assert (await place.found("no room in the container"))[0][0] == "ses_disk"
    assert (await place.index.search(RecallQuery("container"))).found == ()
    assert await place.found("no room in the container", excluded="ses_disk") == [
        ("ses_soup", 1),
        ("ses_soup", 2),
    ]
    assert await place.found("container", cwd="/elsewhere") == []


async def test_only_new_texts_are_embedded_and_deleted_ones_are_forgotten(place: Place) -> None:
    await place.indexer.index_sessions()
    first = len(place.embedder.embedded)
    assert await place.indexer.index_sessions() == 0
    assert len(place.embedder.embedded) == first == 4
    transcript, _, _ = Transcript.reopen(place.home / "sessions" / "ses_soup.jsonl")
    transcript.append(said("And with pepper, of course"))
    transcript.close()
    (place.home / "sessions" / "ses_disk.jsonl").unlink()
    await place.index.catch_up()
    assert await place.indexer.count_unknown() == 1
    await place.indexer.index_sessions()
    assert place.embedder.embedded[first:] == ["And with pepper, of course"]
    assert set(await place.vectors.marks("session")) == {"ses_soup"}


async def test_the_number_of_embedded_texts_is_limited(place: Place) -> None:
    place.indexer.left = 2
    assert await place.indexer.index_sessions() == 1
    assert len(place.embedder.embedded) == 2
    finds = await place.search().search(RecallQuery("soup", by_meaning=True))
    assert "1 sessions are not indexed by meaning yet" in finds.note


async def test_without_its_model_a_search_by_meaning_searches_for_words(place: Place) -> None:
    place.embedder.trouble = ModelUnavailable("It is gone.")
    finds = await place.search().search(RecallQuery("soup", by_meaning=True))
    assert [each.session_id for each in finds.found] == ["ses_soup"]
    assert finds.note == "This search did not include meaning: It is gone."
    off = await HybridSearch(Words(find("a", 1)), lambda: None).search(RecallQuery("x", by_meaning=True))
    assert (off.found, off.note) == ((find("a", 1),), SEMANTIC_UNAVAILABLE)
    with pytest.raises(BadRequest):
        await place.search().search(RecallQuery("  ", by_meaning=True))


def test_a_skill_matches_when_it_is_closer_than_everyday_prompts() -> None:
    skill, anchors = unit([1, 0, 1]), [unit([0, 1, number / 10]) for number in range(10)]
    assert standard_deviations_above(unit([1, 0, 0.5]), skill, anchors) > FIT_THRESHOLD
    assert standard_deviations_above(unit([0, 1, 0.4]), skill, anchors) < FIT_THRESHOLD


async def test_a_matching_skill_is_named_once_per_session(place: Place) -> None:
    place.skill("cut-release", "Publish a version to PyPI.")
    place.skill("cook", "Make soup of tomatoes.")
    reported: list[HermesError] = []
    workspace = MemoryWorkspace()
    meaning = SemanticIndex(place.embedder, place.vectors, place.indexer)
    with anyio.fail_after(2 * PATIENCE_S):
        async with anyio.create_task_group() as tasks:

            def start(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
                tasks.start_soon(work)

            suggester = SkillSuggester(lambda: meaning, place.skills, start, reported.append)
            assert await suggester.fitting("s", PATIENCE_S) == ()
            for prompt, expected in (
                ("release version two", ["cut-release"]),
                ("publish version three", []),
                ("a recipe with tomato", ["cook"]),
                ("rename this variable", []),
            ):
                suggester.look("s", workspace, prompt)
                assert [each.name for each in await suggester.fitting("s", PATIENCE_S)] == expected, prompt
            suggester.look("other", workspace, "release version two")
            assert await suggester.fitting("other", 0) == ()
            assert [each.name for each in await suggester.fitting("other", PATIENCE_S)] == ["cut-release"]
            place.embedder.trouble = ModelUnavailable("It is gone.")
            suggester.look("s", workspace, "docker image")
            assert await suggester.fitting("s", PATIENCE_S) == ()
    assert [trouble.message for trouble in reported] == ["It is gone."]


async def test_words_suggest_a_skill_without_an_embedding_model(place: Place) -> None:
    place.skill("cut-release", "Bump the version, tag it and upload it to PyPI.")
    place.skill("cook", "Make soup of tomatoes.")
    workspace = MemoryWorkspace()
    with anyio.fail_after(2 * PATIENCE_S):
        async with anyio.create_task_group() as tasks:

            def start(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
                tasks.start_soon(work)

            suggester = SkillSuggester(lambda: None, place.skills, start, lambda _: None)
            for prompt, expected in (
                ("please publish the package on pypi", ["cut-release"]),
                ("rename this variable", []),
                ("boil a tomato soup", ["cook"]),
            ):
                suggester.look("s", workspace, prompt)
                assert [each.name for each in await suggester.fitting("s", PATIENCE_S)] == expected, prompt


def test_skills_are_ranked_by_stems_related_words_and_phrases() -> None:
    ranking = WordRanking(
        [
            ("release", "Bump the version, tag it and upload it to the registry.", "Run the checks."),
            ("review", "Look for bugs in the changes of a pull request.", "Read the diff."),
            ("gdpr", "Erase a person's data.", "Log and reply within 30 days."),
        ]
    )

    def first(prompt: str) -> int | None:
        scores = ranking.scores(prompt)
        return max(scores, key=scores.__getitem__) if scores else None

    assert first("uploading to registries") == 0
    assert first("ship it to npm") == 0
    assert first("what about my PR") == 1
    assert first("right to be forgotten, please") == 2
    assert first("xyzzy") is None
    assert (stem("migrations"), stem("deployed"), stem("shipping")) == (
        stem("migrate"),
        stem("deploy"),
        "ship",
    )
    weak, strong = ranking.scores("bugs.py"), ranking.scores("bugs")
    assert 0 < weak[1] < strong[1]


def test_a_skill_is_suggested_above_a_threshold_and_the_user_is_told_about_likely_ones() -> None:
    assert fitting_skills({0: MIN_SCORE - 0.1}, {}) == []
    assert [each.number for each in fitting_skills({0: 4.0, 1: 9.0, 2: 6.0, 3: 8.0}, {})] == [1, 3, 2]
    assert [
        each.number for each in fitting_skills({}, {0: Meaning(MEANING_ALONE, 0.0), 1: Meaning(0.0, 0.0)})
    ] == [0]
    by_words, by_both = fitting_skills({0: 5.0}, {})[0], fitting_skills({0: 5.5}, {0: Meaning(1.5, 1.5)})[0]
    assert (is_likely(by_words), is_likely(by_both)) == (False, True)


def test_a_word_with_one_typo_counts_like_the_correct_word() -> None:
    ranking = WordRanking(
        [("speed", "Make Python programs fast.", ""), ("style", "Tidy the stylesheets.", "")]
    )
    right = ranking.scores("python program")
    for typed in ("pyhton program", "pyton program", "puython program", "pythin program"):
        assert 0.5 * right[0] < ranking.scores(typed)[0] < right[0]
    assert ranking.scores("piano xyzzy") == {}


def test_a_skill_whose_similarities_hardly_vary_does_not_win() -> None:
    anchors = [unit([1, 0, 0.1]), unit([1, 0.4, 0]), unit([1, -0.4, 0])]
    steady, lively = unit([1, 0, 0.2]), unit([0.3, 1, 0])
    prompt = unit([0.5, 1, 0])
    near = compare_meanings(prompt, {0: [steady], 1: [lively]}, anchors)
    assert near[1].closeness > near[0].closeness
    assert compare_meanings(prompt, {}, anchors) == {}


async def test_a_changed_skill_is_embedded_again(place: Place) -> None:
    place.skill("cook", "Make soup of tomatoes.")
    await index_skills(place.indexer, place.skills())
    before = len(place.embedder.embedded)
    await index_skills(place.indexer, place.skills())
    assert len(place.embedder.embedded) == before
    text = place.home / "skills" / "cook" / "SKILL.md"
    text.write_text(text.read_text(encoding="utf-8").replace("tomatoes", "pumpkins"), encoding="utf-8")
    await index_skills(place.indexer, place.skills())
    assert place.embedder.embedded[before:] == [
        "cook: Make soup of pumpkins.",
        "cook: Make soup of pumpkins.\nDo it.",
    ]


def test_of_two_skills_with_the_prompts_words_the_closer_in_meaning_comes_first() -> None:
    numbers = [
        each.number for each in fitting_skills({0: 6.0, 1: 5.0}, {0: Meaning(0.0, 0.0), 1: Meaning(1.5, 1.5)})
    ]
    assert numbers == [1, 0]
    assert [each.number for each in fitting_skills({0: 6.0, 1: 5.0}, {})] == [0, 1]
    assert (
        fitting_skills({0: MIN_SCORE - 1.0}, {0: Meaning(1.5, 9.0)}) == []
    )  # But meaning alone suggests no more skills.


async def test_skills_are_found_by_their_words_with_names_first(place: Place) -> None:
    place.skill("cut-release", "Ship it.", body="Speak to the cook.")
    place.skill("cook", "Make soups of tomatoes.")
    skills = place.skills()
    assert [skill.name for skill in search_skills(skills, "cook")] == ["cook", "cut-release"]
    assert [skill.name for skill in search_skills(skills, "soup OR nothingness")] == ["cook"]
    assert search_skills(skills, "spaceship") == []
    with pytest.raises(BadRequest):
        search_skills(skills, "***")
