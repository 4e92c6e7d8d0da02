"""The search service SearXNG, which users host themselves.

Source: docs.searxng.org, Search API.
"""

from collections.abc import Sequence
from typing import Any

from hermes_acp.core.ports.web_ports import WebSearchHit
from hermes_acp.web.search_service import SearchRequest, find_member, parse_hits


class SearXng:
    """Any instance, at an address that the user configures."""

    label: str = "SearXNG"
    base_url: str = ""
    key_variable: str = ""

    def ask(self, words: str, most: int, key: str) -> SearchRequest:
        """Build the request for a query; the instance decides how many results it returns."""
        return SearchRequest("/search", {"q": words, "format": "json"})

    def read(self, answer: Any) -> Sequence[WebSearchHit]:
        """Parse the results."""
        return parse_hits(find_member(answer, "results"), "url", "content", "publishedDate")


SERVICE = SearXng()
