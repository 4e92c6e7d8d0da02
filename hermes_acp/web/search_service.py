"""The interface of a search service."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from msgspec import Struct

from hermes_acp.core.ports.web_ports import WebSearchHit


class SearchRequest(Struct, frozen=True):
    """A request: a path below the service's address, sent with a JSON `body` or, if that is None, by GET."""

    path: str
    parameters: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    body: Mapping[str, Any] | None = None


class SearchService(Protocol):
    """A kind of search service; a plugin of `search_services`."""

    @property
    def label(self) -> str:
        """The service's display name."""
        ...

    @property
    def base_url(self) -> str:
        """The service's address; empty if there are many instances and the user must name one."""
        ...

    @property
    def key_variable(self) -> str:
        """The usual variable for the service's key; empty for a service without keys."""
        ...

    def ask(self, words: str, most: int, key: str) -> SearchRequest:
        """Build the request for a query."""
        ...

    def read(self, answer: Any) -> Sequence[WebSearchHit]:
        """Parse the JSON of a response; invalid results are left out."""
        ...


def parse_hits(found: Any, url: str, snippet: str, date: str) -> list[WebSearchHit]:
    """Parse a list of objects, given the names of their members."""
    rows = cast("list[Any]", found) if isinstance(found, list) else []
    objects = [cast("dict[str, Any]", row) for row in rows if isinstance(row, dict)]
    return [
        WebSearchHit(_text(row, "title"), _text(row, url), _text(row, snippet), _text(row, date))
        for row in objects
        if _text(row, url).startswith(("http://", "https://"))
    ]


def find_member(answer: Any, *names: str) -> Any:
    """Return the nested member with the given names, or None if any is missing."""
    for name in names:
        answer = cast("dict[str, Any]", answer).get(name) if isinstance(answer, dict) else None
    return answer


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""
