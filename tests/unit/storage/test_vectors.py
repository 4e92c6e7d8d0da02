"""Vectors are found by distance, belong to sources, and never outlive the model that created them."""

from pathlib import Path

import pytest

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.embedding_ports import cosine_similarity, unit
from hermes_acp.storage.search.vector_store import EmbeddedText, VectorStore

pytestmark = pytest.mark.anyio
EAST, NORTH, BETWEEN = unit([1, 0]), unit([0, 1]), unit([1, 1])


def store_in(place: Path, model: str | None = "one") -> VectorStore:
    return VectorStore(place / "home" / "vectors.db", model)


async def filled(place: Path) -> VectorStore:
    store = store_in(place)
    await store.put("session", "a", "/x", [EmbeddedText(1, "d1", EAST), EmbeddedText(2, "d2", NORTH)])
    await store.put("session", "b", "/y", [EmbeddedText(1, "d3", BETWEEN)])
    await store.put("skill", "/s", "", [EmbeddedText(0, "d4", EAST)])
    return store


def test_a_vector_has_length_one_or_does_not_exist() -> None:
    assert cosine_similarity(unit([3, 4]), unit([3, 4])) == pytest.approx(1)
    assert cosine_similarity(EAST, NORTH) == 0
    for nothing in ([], [0, 0], [float("inf"), 1], [float("nan")]):
        with pytest.raises(ValueError, match="direction"):
            unit(nothing)


async def test_the_nearest_comes_first_and_kinds_and_folders_are_separate(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    found = await store.nearest("session", EAST, 5)
    assert [(near.source, near.position) for near in found] == [("a", 1), ("b", 1), ("a", 2)]
    assert [near.similarity for near in found] == pytest.approx([1, 0.7071, 0], abs=1e-3)
    assert [near.source for near in await store.nearest("session", EAST, 5, "/y")] == ["b"]
    assert [near.source for near in await store.nearest("skill", EAST, 5)] == ["/s"]
    assert len(await store.nearest("session", EAST, 1)) == 1
    assert await store.vectors("skill") == {"/s": [EAST]}
    await store.aclose()


async def test_a_settled_source_is_known_and_keeps_only_its_current_texts(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    assert await store.marks("session") == {"a": "", "b": ""}
    await store.settle("a", "whole", [2, 3])
    assert await store.marks("session") == {"a": "whole", "b": ""}
    assert dict((await store.source_state("a")).digests) == {2: "d2"}
    await store.put("session", "a", "/x", [EmbeddedText(2, "new", EAST)])
    assert [(near.source, near.digest) for near in await store.nearest("session", EAST, 1)] == [("a", "new")]
    await store.aclose()


async def test_a_dropped_source_leaves_no_vectors(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    await store.drop(["a", "never there"])
    assert [near.source for near in await store.nearest("session", EAST, 9)] == ["b"]
    assert "a" not in await store.marks("session")
    assert dict((await store.source_state("a")).digests) == {}
    await store.aclose()


async def test_another_model_starts_over_and_no_model_changes_nothing(tmp_path: Path) -> None:
    await (await filled(tmp_path)).aclose()
    unnamed = store_in(tmp_path, None)
    await unnamed.drop(["b"])
    assert set(await unnamed.marks("session")) == {"a"}
    await unnamed.aclose()
    other = store_in(tmp_path, "two")
    assert await other.marks("session") == {}
    assert await other.nearest("session", EAST, 9) == []
    await other.aclose()


async def test_vectors_of_another_length_start_over(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    longer = unit([1, 2, 3])
    assert await store.nearest("session", longer, 9) == []
    await store.put("session", "c", "/x", [EmbeddedText(1, "d", longer)])
    assert set(await store.marks("session")) == {"c"}
    assert [near.source for near in await store.nearest("session", longer, 9)] == ["c"]
    await store.aclose()


async def test_a_damaged_file_is_reported_and_started_over(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.path.parent.mkdir()
    store.path.write_bytes(b"no database " * 400)
    with pytest.raises(StorageError, match="vector index"):
        await store.marks("session")
    assert await store.marks("session") == {}
    assert store.path.stat().st_mode & 0o077 == 0
    await store.aclose()
