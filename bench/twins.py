"""Measure how many duplicate skills are detected at the current threshold and around it, and how many false positives.

Sixteen skills are each described twice in different words: the two descriptions of one skill should be reported as
similar, and all other pairs should not. The local model is compared with the plain measure of letters.
Run: python -m bench.twins
"""

from itertools import combinations
from typing import Final

import anyio

from bench.recall import SKILLS
from hermes_acp.models.embeddings.local_embeddings import LocalEmbedder
from hermes_acp.skills.suggestions.generic_prompts import GENERIC_PROMPTS
from hermes_acp.skills.suggestions.lexical_similarity import SIMILARITY_THRESHOLD, similar_pairs
from hermes_acp.skills.suggestions.skill_similarity import DUPLICATE_THRESHOLD, SimilarityMeasure
from hermes_acp.skills.suggestions.skill_vectors import description_text

IN_OTHER_WORDS: Final = {
    "release": "Publish a new version of the package: raise its number, note what is new, upload it to the index.",
    "review": "Look through a pull request for mistakes, missing tests and holes before it goes in.",
    "migrate": "Change the tables of a database step by step with Alembic so that it can be undone.",
    "helm": "Roll out an application to k8s using charts.",
    "pdf": "Read, split, combine and fill in PDF documents.",
    "i18n": "Localize the application: add translations for another locale.",
    "profile": "Speed up slow Python code by measuring where the time goes.",
    "flaky": "Make unreliable, intermittently failing tests stable.",
    "brand": "Use our corporate identity, palette and typography in presentations.",
    "postmortem": "Write an incident report after downtime, with root cause and action items.",
    "rust-ffi": "Write Python bindings for Rust code using pyo3.",
    "sql": "Optimize a database query by looking at EXPLAIN and adding an index.",
    "accessibility": "Audit a website for accessibility (a11y, WCAG, screen readers).",
    "slim-images": "Shrink Docker images by using multi-stage Dockerfiles.",
    "terraform": "Provision cloud resources as code with Terraform modules.",
    "analyze-csv": "Analyse tabular data in CSV files and make charts of it.",
}
ELSEWHERE: Final = "other "


def texts() -> dict[str, str]:
    """Return every skill twice, once under its name and once under another."""
    first = {name: description_text(name, said) for name, said in SKILLS.items()}
    return first | {f"{ELSEWHERE}{name}": said for name, said in IN_OTHER_WORDS.items()}


def tell(measure: str, degrees: dict[tuple[str, str], float], least: float) -> None:
    """Print how many pairs of the same skill, and of different skills, are at least that similar."""
    told = [pair for pair, degree in degrees.items() if degree >= least]
    right = sum(one == other.removeprefix(ELSEWHERE) for one, other in told)
    others = len(degrees) - len(SKILLS)
    print(
        f"{measure} {least}: {right} of {len(SKILLS)} found, {len(told) - right} of {others} found by mistake"
    )


async def main() -> None:
    described = texts()
    embedder = LocalEmbedder()
    vectors = await embedder.embed(list(described.values()), "passage")
    generic_prompts = await embedder.embed(GENERIC_PROMPTS, "query")
    await embedder.aclose()
    measure = SimilarityMeasure(dict(zip(described, vectors, strict=True)), generic_prompts)
    pairs = list(combinations(described, 2))
    by_meaning = {pair: measure.similarity(*pair) for pair in pairs}
    for least in (
        DUPLICATE_THRESHOLD - 1,
        DUPLICATE_THRESHOLD - 0.5,
        DUPLICATE_THRESHOLD,
        DUPLICATE_THRESHOLD + 0.5,
    ):
        tell("meaning", by_meaning, least)
    letters = {(one, other): degree for one, other, degree in similar_pairs(described, least=0.0)}
    by_letters = {pair: letters.get(pair, 0.0) for pair in pairs}
    for least in (SIMILARITY_THRESHOLD / 2, SIMILARITY_THRESHOLD):
        tell("letters", by_letters, least)


if __name__ == "__main__":
    anyio.run(main)
