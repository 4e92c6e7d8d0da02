"""The ranking of skills keeps its quality on the labelled requests of `bench/skill_search.toml`."""

from collections.abc import Mapping
from types import MappingProxyType

from bench.skill_search import labelled_skills, rates, unrelated_requests, word_ranking
from hermes_acp.skills.suggestions.combined_fit import fitting_skills, is_likely
from hermes_acp.skills.suggestions.skill_fit import Meaning

NO_MEANINGS: Mapping[int, Meaning] = MappingProxyType({})


def test_the_right_skill_is_suggested_first_at_the_measured_rate() -> None:
    skills = labelled_skills()
    ranking = word_ranking(skills)
    seen = {request: each.name for each in skills for request in each.seen}
    unseen = {request: each.name for each in skills for request in each.unseen}
    fresh = {each.fresh: each.name for each in skills}
    scores: dict[str, tuple[Mapping[int, float], Mapping[int, Meaning]]] = {
        request: (ranking.scores(request), NO_MEANINGS) for request in (*seen, *unseen, *fresh)
    }
    assert rates(skills, seen, scores, []).first / len(seen) >= 0.85
    assert rates(skills, unseen, scores, []).first / len(unseen) >= 0.78
    assert rates(skills, unseen, scores, []).suggested / len(unseen) >= 0.88
    assert rates(skills, fresh, scores, []).first / len(fresh) >= 0.63


def test_requests_without_a_matching_skill_rarely_get_a_suggestion() -> None:
    ranking = word_ranking(labelled_skills())
    fits = [fitting_skills(ranking.scores(request), NO_MEANINGS) for request in unrelated_requests()]
    assert sum(any(map(is_likely, each)) for each in fits) / len(fits) <= 0.1
