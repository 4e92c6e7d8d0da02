"""The English embedding model: tokenization of texts, and similarity of vectors."""

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.config.sections.recall_settings import ENGLISH_MODEL, RecallSettings
from hermes_acp.core.ports.embedding_ports import cosine_similarity
from hermes_acp.models.embeddings.local_embeddings import ENGLISH_PACKAGE, local_embedder
from hermes_acp.models.embeddings.minilm_model import MiniLM

pytestmark = pytest.mark.anyio
NEEDS_WEIGHTS = pytest.mark.skipif(find_spec(ENGLISH_PACKAGE) is None, reason="the weights are not installed")


@pytest.fixture(scope="module")
def model() -> MiniLM:
    package = find_spec(ENGLISH_PACKAGE)
    assert package
    assert package.submodule_search_locations
    return MiniLM(Path(package.submodule_search_locations[0]) / "model")


@NEEDS_WEIGHTS
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", [101, 102]),
        ("Hello, World!", [101, 7592, 1010, 2088, 999, 102]),
        ("naïve café $x=~y", [101, 15743, 7668, 1002, 1060, 1027, 1066, 1061, 102]),
        ("a" * 120, [101, 100, 102]),
        ("tab\tzero\u200bwidth", [101, 21628, 5717, 9148, 11927, 2232, 102]),
    ],
)
def test_tokens_are_those_of_the_published_tokenizer(model: MiniLM, text: str, tokens: list[int]) -> None:
    assert model.token_ids(text) == tokens


@NEEDS_WEIGHTS
def test_a_long_text_is_cut(model: MiniLM) -> None:
    assert len(model.token_ids("word " * 1_000)) == 256


@NEEDS_WEIGHTS
def test_similar_meanings_have_similar_vectors(model: MiniLM) -> None:
    def unit_of(text: str) -> list[float]:
        (vector,) = model.query([text])
        numbers: list[Any] = vector.tolist()
        length = math.sqrt(sum(number * number for number in numbers))
        return [number / length for number in numbers]

    def similarity(one: str, other: str) -> float:
        return sum(a * b for a, b in zip(unit_of(one), unit_of(other), strict=True))

    assert similarity("A man is eating food.", "A man is eating pasta.") > 0.7
    assert similarity("A man is eating food.", "The release notes are missing.") < 0.2


@NEEDS_WEIGHTS
async def test_the_model_runs_in_its_own_process() -> None:
    embedder = local_embedder(ENGLISH_MODEL)
    release, ship, soup = await embedder.embed(
        ["publish the package", "release it to PyPI", "cook soup"], "query"
    )
    await embedder.aclose()
    assert cosine_similarity(release, ship) > cosine_similarity(release, soup) + 0.2


def test_unknown_weights_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other")
    with pytest.raises(ValueError, match="published weights"):
        MiniLM(tmp_path)


def test_the_settings_name_the_local_models() -> None:
    assert RecallSettings(embeddings="local", model=ENGLISH_MODEL).model == ENGLISH_MODEL
    with pytest.raises(ValueError, match="multilingual-e5-small and all-MiniLM-L6-v2"):
        RecallSettings(embeddings="local", model="text-embedding-3-small")
