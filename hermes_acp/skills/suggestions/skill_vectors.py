"""Index skill descriptions as vectors, together with the everyday prompts they are compared with."""

from collections.abc import Sequence
from typing import Final

from hermes_acp.skills.skill_collection import Skill
from hermes_acp.skills.suggestions.generic_prompts import GENERIC_PROMPTS
from hermes_acp.storage.search.vector_indexing import MAX_CHARS, VectorIndexer, text_digest

GENERIC_PROMPT_SOURCE: Final = "anchors"
DESCRIPTION: Final = 0
"""The position of a skill's description among its vectors, for comparison with other skills."""
WHOLE: Final = 1
"""The position of a skill's description and text, for comparison with prompts."""


async def index_skills(indexer: VectorIndexer, skills: Sequence[Skill]) -> None:
    """Embed each skill's description and text, and the everyday prompts. Raises ModelError or StorageError."""
    prompts: dict[int, str] = dict(enumerate(GENERIC_PROMPTS))
    await indexer.index_source("anchor", GENERIC_PROMPT_SOURCE, "", prompts, str(len(prompts)))
    for skill in skills:
        document = skill.document
        texts = {
            DESCRIPTION: description_text(skill.name, document.description),
            WHOLE: whole_text(skill.name, document.description, document.body),
        }
        await indexer.index_source("skill", skill.folder, "", texts, text_digest("\0".join(texts.values())))


def description_text(name: str, description: str) -> str:
    """Return the text that represents a skill in comparisons."""
    return f"{name.replace('-', ' ')}: {description}"[:MAX_CHARS]


def whole_text(name: str, description: str, text: str) -> str:
    """Return the text that a prompt is compared with: the description, and as much of the skill's text as fits."""
    return f"{description_text(name, description)}\n{text.strip()}"[:MAX_CHARS].rstrip()
