"""The search service Brave Search.

Source: api-dashboard.search.brave.com, Web Search API.
"""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any, Final

from msgspec import structs

from hermes_acp.core.ports.web_ports import WebSearchHit
from hermes_acp.web.search_service import SearchRequest, find_member, parse_hits

MAX_RESULTS: Final = 20
_TAG: Final = re.compile(r"</?strong>")


class Brave:
    """The service at api.search.brave.com."""

    label: str = "Brave Search"
    base_url: str = "https://api.search.brave.com"
    key_variable: str = "BRAVE_API_KEY"

    def ask(self, words: str, most: int, key: str) -> SearchRequest:
        """Build the request for a query."""
        parameters = {"q": words, "count": str(min(most, MAX_RESULTS)), "text_decorations": "false"}
        return SearchRequest("/res/v1/web/search", parameters, {"x-subscription-token": key})

    def read(self, answer: Any) -> Sequence[WebSearchHit]:
        """Parse the results."""
        found = parse_hits(find_member(answer, "web", "results"), "url", "description", "age")
        return [structs.replace(hit, title=_bare(hit.title), snippet=_bare(hit.snippet)) for hit in found]


def _bare(text: str) -> str:
    return unescape(_TAG.sub("", text))


SERVICE = Brave()
