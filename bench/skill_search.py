"""Measure how often the right skill is the first one that the first request of a turn suggests to the model.

`skill_search.toml` contains 60 invented skills, requests as people would word them, and requests that need no skill. A
request counts as answered if its skill is the first suggested one; suggesting nothing counts as a miss. Words are
compared as in a turn with default settings. With `--meaning MODEL`, a local model compares meanings too, as with
`recall.embeddings: local`. `--kept` adds held-out requests, for which the ranking must not be tuned; measure them once
after finishing a change. `--misses` lists the missed requests of the visible set; those of the other sets are only
counted, so that the ranking is not tuned for them.

Usage: python -m bench.skill_search [--meaning MODEL] [--kept] [--misses]
"""

import argparse
import time
import tomllib
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
from msgspec import Struct

from hermes_acp.config.sections.recall_settings import LOCAL_MODELS
from hermes_acp.core.ports.embedding_ports import Purpose
from hermes_acp.models.embeddings.local_embeddings import LocalEmbedder, local_embedder
from hermes_acp.skills.suggestions.combined_fit import fitting_skills, is_likely, ranked_skills
from hermes_acp.skills.suggestions.generic_prompts import GENERIC_PROMPTS
from hermes_acp.skills.suggestions.skill_fit import Meaning, compare_meanings
from hermes_acp.skills.suggestions.skill_vectors import description_text, whole_text
from hermes_acp.skills.suggestions.word_ranking import WordRanking

TEXTS_AT_ONCE: Final = 4
DATA: Final = Path(__file__).with_name("skill_search.toml")


class LabelledSkill(Struct, frozen=True):
    """A skill and the requests that it should answer.

    `seen` requests were visible when the ranking was written; `unseen` ones were not. `fresh` was written before the
    ranking was improved, and `kept` before it was improved again.
    """

    name: str
    description: str
    text: str
    seen: tuple[str, ...]
    unseen: tuple[str, ...]
    fresh: str
    kept: str


class Rates(Struct):
    """The number of requests, and how many were answered in which way."""

    count: int = 0
    first: int = 0
    suggested: int = 0
    ranked_first: int = 0
    silent: int = 0


def labelled_skills() -> list[LabelledSkill]:
    """Return the skills with their requests."""
    data = tomllib.loads(DATA.read_text("utf-8"))
    skills: dict[str, dict[str, Any]] = data["skills"]
    return [
        LabelledSkill(
            name,
            each["description"],
            each["text"],
            tuple(each["seen"]),
            tuple(each["unseen"]),
            data["fresh"][name],
            data["kept"][name],
        )
        for name, each in skills.items()
    ]


def unrelated_requests() -> list[str]:
    """Return the requests that need no skill."""
    return tomllib.loads(DATA.read_text("utf-8"))["none"]["requests"]


def word_ranking(skills: Sequence[LabelledSkill]) -> WordRanking:
    """Return the ranking of the skills by words."""
    return WordRanking([(each.name, each.description, each.text) for each in skills])


def rates(
    skills: Sequence[LabelledSkill],
    requests: Mapping[str, str],
    scores: Mapping[str, tuple[Mapping[int, float], Mapping[int, Meaning]]],
    misses: list[str],
) -> Rates:
    """Count the answered requests, given each request's skill and its scores by words and meaning."""
    found = Rates(len(requests))
    for request, wanted in requests.items():
        names = [skills[fit.number].name for fit in fitting_skills(*scores[request])]
        ranked = ranked_skills(*scores[request])
        found.first += names[:1] == [wanted]
        found.suggested += wanted in names
        found.ranked_first += bool(ranked) and skills[ranked[0].number].name == wanted
        found.silent += not names
        if names[:1] != [wanted]:
            misses.append(f"{wanted}: {request!r} got {', '.join(names) or 'nothing'}")
    return found


async def meanings(
    skills: Sequence[LabelledSkill], requests: Sequence[str], model: str
) -> dict[str, Mapping[int, Meaning]]:
    """Return the similarity of the requests to the skills' texts, in standard deviations."""
    embedder = local_embedder(model)
    generic_prompts = await embedder.embed(GENERIC_PROMPTS, "query")
    described = [description_text(each.name, each.description) for each in skills]
    whole = [whole_text(each.name, each.description, each.text) for each in skills]
    pairs = zip(
        await _embed(embedder, described, "passage"), await _embed(embedder, whole, "passage"), strict=True
    )
    vectors = dict(enumerate(pairs))
    asked = await _embed(embedder, requests, "query")
    await embedder.aclose()
    return {
        request: compare_meanings(wanted, vectors, generic_prompts)
        for request, wanted in zip(requests, asked, strict=True)
    }


async def _embed(embedder: LocalEmbedder, texts: Sequence[str], purpose: Purpose) -> "list[array[float]]":
    """Embed a few texts at a time: each request has a time limit."""
    groups = [texts[start : start + TEXTS_AT_ONCE] for start in range(0, len(texts), TEXTS_AT_ONCE)]
    return [vector for group in groups for vector in await embedder.embed(group, purpose)]


def main() -> None:
    """Print the rates."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--meaning", choices=LOCAL_MODELS)
    arguments.add_argument("--kept", action="store_true")
    arguments.add_argument("--misses", action="store_true")
    options = arguments.parse_args()
    skills, unrelated = labelled_skills(), unrelated_requests()
    began_s = time.perf_counter()
    ranking = word_ranking(skills)
    built_ms = (time.perf_counter() - began_s) * 1000
    groups = {
        "seen": {request: each.name for each in skills for request in each.seen},
        "unseen": {request: each.name for each in skills for request in each.unseen},
        "fresh": {each.fresh: each.name for each in skills},
    }
    if options.kept:
        groups = {**groups, "kept": {each.kept: each.name for each in skills}}
    requests = [*(request for asked in groups.values() for request in asked), *unrelated]
    near = anyio.run(meanings, skills, requests, options.meaning) if options.meaning else {}
    began_s = time.perf_counter()
    scores = {request: (ranking.scores(request), near.get(request, {})) for request in requests}
    search_ms = (time.perf_counter() - began_s) * 1000 / len(requests)
    misses: list[str] = []
    for name, asked in groups.items():
        found = rates(skills, asked, scores, misses if name == "seen" else [])
        print(
            f"{name}, {found.count} requests: right one suggested first {found.first} "
            f"({found.first / found.count:.0%}), among those suggested {found.suggested} "
            f"({found.suggested / found.count:.0%}), ranked first {found.ranked_first} "
            f"({found.ranked_first / found.count:.0%}), nothing suggested {found.silent}"
        )
    fits = [fitting_skills(*scores[request]) for request in unrelated]
    print(
        f"{len(unrelated)} requests that need no skill: skills suggested for {sum(map(bool, fits))}, "
        f"the user notified for {sum(any(map(is_likely, each)) for each in fits)}"
    )
    print(f"index of {len(skills)} skills: {built_ms:.1f} ms, a search: {search_ms:.2f} ms")
    if options.misses:
        print("\n".join(misses))


if __name__ == "__main__":
    main()
