"""Full-text search of skills.

Skills that match more words come first; those that match none are left out.
"""

from collections.abc import Sequence
from typing import Final

from hermes_acp.skills.skill_collection import Skill
from hermes_acp.storage.search.document_ranking import WeightedQuery, rank_documents
from hermes_acp.storage.search.search_queries import parse, spaced

WEIGHTS: Final = (8.0, 4.0, 1.0)
"""The weights of a skill's name, description and body."""
MAX_RESULTS: Final = 10


def search_skills(skills: Sequence[Skill], words: str) -> list[Skill]:
    """Return the skills that contain any of the words, best first. Raises BadRequest for a query without words."""
    query = WeightedQuery(" OR ".join(parse(words).group_expressions()))
    documents = [
        (each.name.replace("-", " "), spaced(each.document.description), spaced(each.document.body))
        for each in skills
    ]
    return [skills[number] for number in rank_documents(documents, WEIGHTS, (query,), MAX_RESULTS)]
