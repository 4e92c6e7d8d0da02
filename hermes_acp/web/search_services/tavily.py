"""Tavily.

Knows: POST /search with a bearer key. Source: docs.tavily.com, API reference, Search.
"""

from collections.abc import Sequence
from typing import Any

from hermes_acp.core.exchanges import WebHit
from hermes_acp.web.services import Query, hits_in, member


class Tavily:
    """The service at api.tavily.com."""

    label: str = "Tavily"
    base_url: str = "https://api.tavily.com"
    key_variable: str = "TAVILY_API_KEY"

    def ask(self, words: str, most: int, key: str) -> Query:
        """Put a query."""
        body = {"query": words, "max_results": most, "search_depth": "basic"}
        return Query("/search", headers={"authorization": f"Bearer {key}"}, body=body)

    def read(self, answer: Any) -> Sequence[WebHit]:
        """Read an answer."""
        return hits_in(member(answer, "results"), "url", "content", "published_date")


SERVICE = Tavily()
