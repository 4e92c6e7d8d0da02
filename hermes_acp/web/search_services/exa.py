"""The search service Exa.

Source: exa.ai/docs, API reference, Search.
"""

from collections.abc import Sequence
from typing import Any, Final

from hermes_acp.core.ports.web_ports import WebSearchHit
from hermes_acp.web.search_service import SearchRequest, find_member, parse_hits

EXCERPT_CHARACTERS: Final = 500


class Exa:
    """The service at api.exa.ai."""

    label: str = "Exa"
    base_url: str = "https://api.exa.ai"
    key_variable: str = "EXA_API_KEY"

    def ask(self, words: str, most: int, key: str) -> SearchRequest:
        """Build the request for a query."""
        contents = {"text": {"maxCharacters": EXCERPT_CHARACTERS}}
        body = {"query": words, "numResults": most, "type": "auto", "contents": contents}
        return SearchRequest("/search", headers={"x-api-key": key}, body=body)

    def read(self, answer: Any) -> Sequence[WebSearchHit]:
        """Parse the results."""
        return parse_hits(find_member(answer, "results"), "url", "text", "publishedDate")


SERVICE = Exa()
