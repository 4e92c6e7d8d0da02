"""Index skill descriptions, and the everyday prompts they are compared with, as vectors."""

from collections.abc import Sequence
from typing import Final

from hermes_acp.skills.skill_collection import Skill
from hermes_acp.skills.suggestions.generic_prompts import GENERIC_PROMPTS
from hermes_acp.storage.search.vector_indexing import MAX_CHARS, VectorIndexer, text_digest

GENERIC_PROMPT_SOURCE: Final = "anchors"


async def index_skills(indexer: VectorIndexer, skills: Sequence[Skill]) -> None:
    """Embed each skill's description and the everyday prompts. Raises ModelError, StorageError."""
    prompts: dict[int, str] = dict(enumerate(GENERIC_PROMPTS))
    await indexer.index_source("anchor", GENERIC_PROMPT_SOURCE, "", prompts, str(len(prompts)))
    for skill in skills:
        text = description_text(skill.name, skill.document.description)
        await indexer.index_source("skill", skill.folder, "", {0: text}, text_digest(text))


def description_text(name: str, description: str) -> str:
    """Return the text that represents a skill in comparisons."""
    return f"{name.replace('-', ' ')}: {description}"[:MAX_CHARS]
