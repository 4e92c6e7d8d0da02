"""Serper, which gives Google's results.

Knows: POST /search with a key of its own header. Source: serper.dev, API description.
"""

from collections.abc import Sequence
from typing import Any

from hermes_acp.core.exchanges import WebHit
from hermes_acp.web.services import Query, hits_in, member


class Serper:
    """The service at google.serper.dev."""

    label: str = "Serper"
    base_url: str = "https://google.serper.dev"
    key_variable: str = "SERPER_API_KEY"

    def ask(self, words: str, most: int, key: str) -> Query:
        """Put a query."""
        return Query("/search", headers={"x-api-key": key}, body={"q": words, "num": most})

    def read(self, answer: Any) -> Sequence[WebHit]:
        """Read an answer."""
        return hits_in(member(answer, "organic"), "link", "snippet", "date")


SERVICE = Serper()
