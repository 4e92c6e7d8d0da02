"""Queries to each search service, and parsing of their answers."""

from collections.abc import Mapping
from typing import Any

import pytest

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.web_ports import WebSearchHit
from hermes_acp.web.search_service import SearchRequest, SearchService

SERVICES: PluginFolder[SearchService] = PluginFolder("hermes_acp.web.search_services", "SERVICE")
DAY = "2026-01-02"
HIT = WebSearchHit("Title", "https://a.test/", "Words on it.", "2026-01-02")
ASKED: Mapping[str, SearchRequest] = {
    "brave": SearchRequest(
        "/res/v1/web/search",
        {"q": "w", "count": "5", "text_decorations": "false"},
        {"x-subscription-token": "K"},
    ),
    "exa": SearchRequest(
        "/search",
        headers={"x-api-key": "K"},
        body={"query": "w", "numResults": 5, "type": "auto", "contents": {"text": {"maxCharacters": 500}}},
    ),
    "searxng": SearchRequest("/search", {"q": "w", "format": "json"}),
    "serper": SearchRequest("/search", headers={"x-api-key": "K"}, body={"q": "w", "num": 5}),
    "tavily": SearchRequest(
        "/search",
        headers={"authorization": "Bearer K"},
        body={"query": "w", "max_results": 5, "search_depth": "basic"},
    ),
}
ANSWERS: Mapping[str, Any] = {
    "brave": {
        "type": "search",
        "web": {
            "results": [
                {
                    "title": "Title",
                    "url": "https://a.test/",
                    "description": "<strong>Words</strong> on it.",
                    "age": "2026-01-02",
                }
            ]
        },
    },
    "exa": {
        "requestId": "r",
        "results": [
            {
                "id": "1",
                "title": "Title",
                "url": "https://a.test/",
                "text": "Words\non it.",
                "publishedDate": "2026-01-02",
            }
        ],
    },
    "searxng": {
        "query": "w",
        "results": [
            {
                "title": "Title",
                "url": "https://a.test/",
                "content": "Words on it.",
                "publishedDate": "2026-01-02",
            }
        ],
    },
    "serper": {
        "searchParameters": {"q": "w"},
        "organic": [
            {
                "title": "Title",
                "link": "https://a.test/",
                "snippet": "Words on it.",
                "date": "2026-01-02",
                "position": 1,
            }
        ],
    },
    "tavily": {
        "query": "w",
        "results": [
            {
                "title": "Title",
                "url": "https://a.test/",
                "content": "Words on it.",
                "score": 0.9,
                "published_date": "2026-01-02",
            }
        ],
    },
}


def test_every_service_is_tested_here() -> None:
    assert set(ASKED) == set(ANSWERS) == set(SERVICES.names())


@pytest.mark.parametrize("name", ASKED)
def test_a_query_has_the_form_that_the_service_expects(name: str) -> None:
    assert SERVICES.open(name).ask("w", 5, "K") == ASKED[name]


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_parsed(name: str) -> None:
    assert list(SERVICES.open(name).read(ANSWERS[name])) == [HIT]


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        "x",
        {"results": None, "web": [], "organic": 3},
        {"results": [1, {"url": "javascript:x"}]},
    ],
)
def test_an_invalid_answer_has_no_results(name: str, answer: object) -> None:
    assert list(SERVICES.open(name).read(answer)) == []
