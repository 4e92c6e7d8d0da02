"""SearXNG, which people run themselves.

Source: docs.searxng.org, Search API.
"""

from collections.abc import Sequence
from typing import Any

from hermes_acp.core.ports.web_ports import WebSearchHit
from hermes_acp.web.search_service import SearchRequest, find_member, parse_hits


class SearXng:
    """Any instance; the user says where it is."""

    label: str = "SearXNG"
    base_url: str = ""
    key_variable: str = ""

    def ask(self, words: str, most: int, key: str) -> SearchRequest:
        """Put a query; how many it finds is the instance's to say."""
        return SearchRequest("/search", {"q": words, "format": "json"})

    def read(self, answer: Any) -> Sequence[WebSearchHit]:
        """Read an answer."""
        return parse_hits(find_member(answer, "results"), "url", "content", "publishedDate")


SERVICE = SearXng()
