"""Measure how often embeddings alone suggest the right or a wrong skill for a prompt, and their cost.

`bench/skill_search.py` measures what sessions do, which also compare words.

This uses the local model, at the current threshold and around it, and the plain measure of letters for comparison. The
prompts do not include the everyday prompts that calibrate the measure
(`hermes_acp/skills/suggestions/generic_prompts.py`).
Run: python -m bench.recall
"""

import random
import time
from array import array
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio

from hermes_acp.core.ports.embedding_ports import unit
from hermes_acp.models.embeddings.local_embeddings import LocalEmbedder
from hermes_acp.skills.suggestions.generic_prompts import GENERIC_PROMPTS
from hermes_acp.skills.suggestions.lexical_similarity import lexical_similarities
from hermes_acp.skills.suggestions.skill_fit import FIT_THRESHOLD, standard_deviations_above
from hermes_acp.storage.search.vector_store import EmbeddedText, VectorStore

SKILLS: Final = {
    "release": "Cut a release of this library: bump the version, write the changelog, tag and publish to PyPI.",
    "review": "Review the changes of a branch before they are merged: correctness, tests, security.",
    "migrate": "Write and run a database migration with Alembic, including the way back.",
    "helm": "Deploy a service to the Kubernetes cluster with Helm charts.",
    "pdf": "Extract text and tables from PDF files, merge, split and fill forms.",
    "i18n": "Add a language to the app and translate its user interface strings.",
    "profile": "Find out why a Python program is slow with py-spy and cProfile, and speed it up.",
    "flaky": "Track down tests that fail only sometimes and make them deterministic.",
    "brand": "Apply the company's colors, fonts and logo to documents and slides.",
    "postmortem": "Write a postmortem after an outage: timeline, causes, follow-ups.",
    "rust-ffi": "Expose a Rust crate to Python with PyO3 and maturin.",
    "sql": "Make a slow SQL query fast: read its plan, add indexes, rewrite joins.",
    "accessibility": "Check a web page for people who use screen readers and keyboards.",
    "slim-images": "Make a container image smaller and safer with multi-stage builds.",
    "terraform": "Create cloud infrastructure with Terraform: networks, buckets, roles.",
    "analyze-csv": "Explore a CSV file: clean it, plot it and sum up what stands out.",
}
MEANT: Final = (
    ("release", "Please publish version 2.3 of the package"),
    ("release", "get 1.0 out the door: changelog, tag, upload"),
    ("release", "Wir müssen eine neue Version auf PyPI veröffentlichen"),
    ("review", "check this diff for bugs before I merge"),
    ("migrate", "the schema needs a new index on orders.created_at"),
    ("migrate", "add a nullable column to the users table"),
    ("helm", "roll the new image out to the staging cluster"),
    ("helm", "our pods crash after the chart upgrade"),
    ("pdf", "pull the invoice tables out of these scanned documents"),
    ("pdf", "combine report1.pdf and report2.pdf"),
    ("i18n", "we need the app in Portuguese"),
    ("i18n", "make the buttons show up in French"),
    ("profile", "this script takes 40 minutes, why?"),
    ("profile", "the import is too slow, speed it up"),
    ("flaky", "test_login fails one time in ten on CI"),
    ("flaky", "CI is red again but passes when rerun"),
    ("brand", "make a slide deck in our corporate look"),
    ("postmortem", "yesterday the API was down for an hour, write it up"),
    ("postmortem", "schreibe einen Bericht über den Ausfall von gestern"),
    ("rust-ffi", "call the rust parser from python"),
    ("sql", "this report query takes 30 seconds on postgres"),
    ("accessibility", "can blind users work with our checkout page?"),
    ("slim-images", "our image is 2 GB, shrink it"),
    ("terraform", "create an S3 bucket and a role for it"),
    ("analyze-csv", "what do the numbers in sales.csv tell us"),
)
NOT_MEANT: Final = (
    "fix the typo in the README",
    "rename the function parse to read_config",
    "add a dark mode toggle to the settings page",
    "thanks, that works now",
    "explain how the event loop works",
    "implement a LRU cache",
    "add type hints to utils.py",
    "remove unused imports",
    "make the login form validate the email",
    "write a unit test for the tokenizer",
    "list all files larger than 10 MB",
    "upgrade react to version 19",
    "how many lines of code are in this repo?",
    "convert this callback code to async/await",
    "Warum ist die Ampel rot?",
    "the app crashes when I click save",
    "add a retry with exponential backoff to the http client",
    "set up eslint",
    "refactor the parser into smaller functions",
    "undo the last change",
    "what is the difference between these two functions",
    "move this component to its own file",
    "the build is broken",
    "where is the config loaded",
    "bitte benenne die Variable um",
    "add pagination to the list of orders",
    "write a regex that matches dates",
    "change the color of the header to blue",
    "implement drag and drop",
    "fix all lint errors",
)
THRESHOLDS: Final = (1.4, FIT_THRESHOLD, 2.0, 2.5)
PASSAGES: Final = 20_000
MAX_NAMED: Final = 2
SECOND_FIT_MARGIN: Final = 0.8
"""The fraction of the best skill's score that a second skill must reach."""


def fitting(surprises: dict[str, float], least: float) -> list[str]:
    """Return the one or two best skills, best first, or none if no skill stands out."""
    ranked = sorted(((value, name) for name, value in surprises.items() if value >= least), reverse=True)
    return [name for value, name in ranked[:MAX_NAMED] if value >= SECOND_FIT_MARGIN * ranked[0][0]]


async def measure() -> None:
    embedder = LocalEmbedder()
    names = list(SKILLS)
    texts = [f"{name.replace('-', ' ')}: {about}" for name, about in SKILLS.items()]
    await embedder.embed(["wake up"], "query")
    begun = time.perf_counter()
    generic_prompts = await embedder.embed(GENERIC_PROMPTS, "query")
    skills = dict(zip(names, await embedder.embed(texts, "passage"), strict=True))
    took_ms = (time.perf_counter() - begun) * 1000 / (len(GENERIC_PROMPTS) + len(texts))
    prompts = [prompt for _, prompt in MEANT] + list(NOT_MEANT)
    found = [
        {name: standard_deviations_above(vector, skill, generic_prompts) for name, skill in skills.items()}
        for vector in await embedder.embed(prompts, "query")
    ]
    await embedder.aclose()
    print(
        f"{took_ms:.0f} ms per text\n\n| measure | right skill named | wrong skill named |\n| --- | --- | --- |"
    )
    for least in THRESHOLDS:
        tell(f"meaning, {least} standard deviations", [fitting(each, least) for each in found])
    plain = [dict(zip(names, lexical_similarities(prompt, texts), strict=True)) for prompt in prompts]
    for least in (0.1, 0.2, 0.3):
        tell(f"letters, likeness {least}", [fitting(each, least) for each in plain])


def tell(measure: str, named: list[list[str]]) -> None:
    """Print a row with the hits among prompts that need a skill, and the false hits among those that need none."""
    right = sum(name in each for (name, _), each in zip(MEANT, named, strict=False))
    wrong = sum(bool(each) for each in named[len(MEANT) :])
    print(f"| {measure} | {right} of {len(MEANT)} | {wrong} of {len(NOT_MEANT)} |")


async def search() -> None:
    dice = random.Random(7)
    with TemporaryDirectory() as folder:
        store = VectorStore(Path(folder) / "home" / "vectors.db", "random")
        vectors: list[array[float]] = [unit(dice.gauss(0, 1) for _ in range(384)) for _ in range(1_000)]
        for start in range(0, PASSAGES, len(vectors)):
            placed = [EmbeddedText(number, "", each) for number, each in enumerate(vectors)]
            await store.put("session", f"s{start}", "/project", placed)
        begun = time.perf_counter()
        for vector in vectors[:50]:
            await store.nearest("session", vector, 60, "/project")
        print(f"\nThe nearest 60 of {PASSAGES:,} passages: {(time.perf_counter() - begun) * 20:.1f} ms")
        await store.aclose()


async def main() -> None:
    await measure()
    await search()


if __name__ == "__main__":
    anyio.run(main)
