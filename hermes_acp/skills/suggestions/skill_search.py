"""Search skills by words, with the ranking that also suggests skills for a prompt.

Skills that contain none of the words, in any form, are left out.
"""

from collections.abc import Sequence
from typing import Final

from hermes_acp.skills.skill_collection import Skill
from hermes_acp.skills.suggestions.combined_fit import ranked_skills
from hermes_acp.skills.suggestions.word_ranking import WordRanking
from hermes_acp.storage.search.search_queries import parse

MAX_RESULTS: Final = 10


def search_skills(skills: Sequence[Skill], words: str) -> list[Skill]:
    """Return the skills that contain any of the words, best first. Raises BadRequest for a query without words."""
    parse(words)
    texts = [(each.name, each.document.description, each.document.body) for each in skills]
    ranked = ranked_skills(WordRanking(texts).scores(words), {})
    return [skills[each.number] for each in ranked[:MAX_RESULTS]]
