"""The search service Serper, which returns Google's results.

Source: serper.dev, API description.
"""

from collections.abc import Sequence
from typing import Any

from hermes_acp.core.ports.web_ports import WebSearchHit
from hermes_acp.web.search_service import SearchRequest, find_member, parse_hits


class Serper:
    """The service at google.serper.dev."""

    label: str = "Serper"
    base_url: str = "https://google.serper.dev"
    key_variable: str = "SERPER_API_KEY"

    def ask(self, words: str, most: int, key: str) -> SearchRequest:
        """Build the request for a query."""
        return SearchRequest("/search", headers={"x-api-key": key}, body={"q": words, "num": most})

    def read(self, answer: Any) -> Sequence[WebSearchHit]:
        """Parse the results."""
        return parse_hits(find_member(answer, "organic"), "link", "snippet", "date")


SERVICE = Serper()
