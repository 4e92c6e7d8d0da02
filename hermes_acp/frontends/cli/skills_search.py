"""hermes-acp skills search: which skill is for this; and which of them are much alike.

Knows: how finds are shown. Does not know: how a skill is found.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from hermes_acp.config.environment import Environment
from hermes_acp.faces.cli.lettering import bold, escaped, note, print_json

if TYPE_CHECKING:
    from hermes_acp.knowledge.skills.collection import Skill
    from hermes_acp.knowledge.skills.likeness import Twins


def search_skills_of(environment: Environment, place: Path, options: argparse.Namespace) -> int:
    """Print the skills that hold any of the words, the best first; give the exit code: 1 where there is none."""
    from hermes_acp.assembly.librarian import Librarian
    from hermes_acp.knowledge.skills.word_search import search_skills

    words = " ".join(options.words)
    skills = Librarian(environment, lambda _: None).library.collection(str(place)).skills
    found = search_skills(skills, words)
    if options.by_meaning:
        near = anyio.run(_about, environment, words, skills)
        found += [skill for skill in near if skill not in found]
    if options.json:
        print_json([_entry(skill) for skill in found])
    elif not found:
        note("Nothing was found.")
    else:
        for skill in found:
            print(
                f"{bold(escaped(skill.name))} ({escaped(skill.label)}): {escaped(skill.document.description)}"
            )
    return 0 if found else 1


def twins_of(environment: Environment, skills: "Sequence[Skill]") -> "Sequence[Twins]":
    """Give the skills that are much alike, by meaning where the settings have a model for it."""
    return anyio.run(_twins, environment, skills)


async def _about(environment: Environment, words: str, skills: "Sequence[Skill]") -> "Sequence[Skill]":
    from hermes_acp.assembly.recollection import Recollection
    from hermes_acp.knowledge.recall.hybrid import NO_MEANING
    from hermes_acp.storage.sessions import SessionStore

    async with Recollection.by_settings(environment, SessionStore(environment.home)) as recollection:
        found = await recollection.kinship.about(words, skills)
        for sentence in recollection.news() if recollection.knows_meaning else (NO_MEANING,):
            note(sentence)
        return found


async def _twins(environment: Environment, skills: "Sequence[Skill]") -> "Sequence[Twins]":
    from hermes_acp.assembly.recollection import Recollection
    from hermes_acp.storage.sessions import SessionStore

    async with Recollection.by_settings(environment, SessionStore(environment.home)) as recollection:
        found = await recollection.kinship.pairs(skills)
        for sentence in recollection.news():
            note(sentence)
        return found


def _entry(skill: "Skill") -> dict[str, str]:
    return {
        "name": skill.name,
        "description": skill.document.description,
        "scope": skill.scope,
        "place": skill.label,
        "folder": skill.folder,
    }
