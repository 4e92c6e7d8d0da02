"""SearXNG, which people run themselves.

Knows: GET /search in JSON, which an instance offers only if its settings name that format. Source: docs.searxng.org,
Search API.
"""

from collections.abc import Sequence
from typing import Any

from hermes_acp.core.exchanges import WebHit
from hermes_acp.web.services import Query, hits_in, member


class SearXng:
    """Any instance; the user says where it is."""

    label: str = "SearXNG"
    base_url: str = ""
    key_variable: str = ""

    def ask(self, words: str, most: int, key: str) -> Query:
        """Put a query; how many it finds is the instance's to say."""
        return Query("/search", {"q": words, "format": "json"})

    def read(self, answer: Any) -> Sequence[WebHit]:
        """Read an answer."""
        return hits_in(member(answer, "results"), "url", "content", "publishedDate")


SERVICE = SearXng()
