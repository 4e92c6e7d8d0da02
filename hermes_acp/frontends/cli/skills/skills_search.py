"""The `hermes-acp skills search` command: find skills by words, and find nearly identical skills."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from hermes_acp.config.environment import Environment
from hermes_acp.frontends.cli.cli_output import bold, escaped, note, print_json
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.skills import messages as tap_messages
from hermes_acp.frontends.cli.skills.skills_taps import taps_of

if TYPE_CHECKING:
    from hermes_acp.skills.skill_collection import Skill
    from hermes_acp.skills.suggestions.lexical_similarity import SimilarSkills
    from hermes_acp.skills.taps.tap_service import FoundSkill


def search_skills_of(environment: Environment, place: Path, options: argparse.Namespace) -> int:
    """Print the skills that contain any of the words, best first; return the exit code, 1 if there are none."""
    from hermes_acp.skills.skill_service import SkillService
    from hermes_acp.skills.suggestions.skill_search import search_skills

    words = " ".join(options.words)
    skills = SkillService(environment, lambda _: None).library.collection(str(place)).skills
    found = search_skills(skills, words)
    if options.by_meaning:
        near = anyio.run(_about, environment, words, skills)
        found += [skill for skill in near if skill not in found]
    offered = taps_of(environment).search(words)
    if options.json:
        print_json([*map(_entry, found), *map(_offer, offered)])
    elif not (found or offered):
        note(command_messages.NOTHING_FOUND)
    else:
        for skill in found:
            print(
                f"{bold(escaped(skill.name))} ({escaped(skill.label)}): {escaped(skill.document.description)}"
            )
        for each in offered:
            name = escaped(f"{each.tap}/{each.name}")
            print(tap_messages.in_tap(bold(name), escaped(each.skill.description)))
        if offered:
            note(tap_messages.install_hint(f"{offered[0].tap}/{offered[0].name}"))
    return 0 if found or offered else 1


def similar_skills_of(environment: Environment, skills: "Sequence[Skill]") -> "Sequence[SimilarSkills]":
    """Return nearly identical skills, compared by meaning if an embedding model is configured."""
    return anyio.run(_similar_skills, environment, skills)


async def _about(environment: Environment, words: str, skills: "Sequence[Skill]") -> "Sequence[Skill]":
    from hermes_acp.agent.setup.turn_dependencies import skill_similarity
    from hermes_acp.app.service_factories import recall_by_settings
    from hermes_acp.recall.hybrid_search import SEMANTIC_UNAVAILABLE
    from hermes_acp.storage.session_store import SessionStore

    async with recall_by_settings(environment, SessionStore(environment.home)) as recall_service:
        found = await skill_similarity(recall_service).about(words, skills)
        for sentence in recall_service.news() if recall_service.knows_meaning else (SEMANTIC_UNAVAILABLE,):
            note(sentence)
        return found


async def _similar_skills(environment: Environment, skills: "Sequence[Skill]") -> "Sequence[SimilarSkills]":
    from hermes_acp.agent.setup.turn_dependencies import skill_similarity
    from hermes_acp.app.service_factories import recall_by_settings
    from hermes_acp.storage.session_store import SessionStore

    async with recall_by_settings(environment, SessionStore(environment.home)) as recall_service:
        found = await skill_similarity(recall_service).pairs(skills)
        for sentence in recall_service.news():
            note(sentence)
        return found


def _offer(found: "FoundSkill") -> dict[str, str]:
    return {
        "name": found.name,
        "description": found.skill.description,
        "scope": "tap",
        "place": f"{found.tap}/{found.name}",
        "folder": "",
    }


def _entry(skill: "Skill") -> dict[str, str]:
    return {
        "name": skill.name,
        "description": skill.document.description,
        "scope": skill.scope,
        "place": skill.label,
        "folder": skill.folder,
    }
