"""The search service Tavily.

Source: docs.tavily.com, API reference, Search.
"""

from collections.abc import Sequence
from typing import Any

from hermes_acp.core.ports.web_ports import WebSearchHit
from hermes_acp.web.search_service import SearchRequest, find_member, parse_hits


class Tavily:
    """The service at api.tavily.com."""

    label: str = "Tavily"
    base_url: str = "https://api.tavily.com"
    key_variable: str = "TAVILY_API_KEY"

    def ask(self, words: str, most: int, key: str) -> SearchRequest:
        """Build the request for a query."""
        body = {"query": words, "max_results": most, "search_depth": "basic"}
        return SearchRequest("/search", headers={"authorization": f"Bearer {key}"}, body=body)

    def read(self, answer: Any) -> Sequence[WebSearchHit]:
        """Parse the results."""
        return parse_hits(find_member(answer, "results"), "url", "content", "published_date")


SERVICE = Tavily()
