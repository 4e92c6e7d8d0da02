"""Rank tools by relevance to a query from a model or a person.

A query is matched against a tool's name, its server, its description and its parameters. Synonyms count too, but less
than the query's own words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from msgspec import Struct

from hermes_acp.core.messages import ToolSchema
from hermes_acp.storage.search.document_ranking import WeightedQuery, rank_documents
from hermes_acp.storage.search.search_queries import fold, separate_words
from hermes_acp.tools.deferred.synonyms import STOP_WORDS, WEAK_WORDS, synonyms_of

FIELD_WEIGHTS: Final = (4.0, 4.0, 2.0, 1.0)
"""The weights of a tool's name, server, description and parameters."""
SYNONYM_WEIGHT: Final = 0.5
WEAK_WEIGHT: Final = 0.3
SERVER_WEIGHT: Final = 0.7
MIN_SERVER_PART: Final = 4
MAX_QUERY_WORDS: Final = 40
MAX_DESCRIPTION_CHARS: Final = 2000
MAX_PARAMETER_DEPTH: Final = 4
_WORD: Final = re.compile(r"[^\W_]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class RankedTool(Struct, frozen=True):
    """A tool in the search index: its own name, its server, and its schema."""

    name: str
    server: str
    schema: ToolSchema


def rank_tools(tools: Sequence[RankedTool], query: str, limit: int) -> list[int]:
    """Return the numbers of the tools that fit a query, best first. Blocks."""
    words = query_words(query)
    if not words:
        return []
    strong = [word for word in words if word not in WEAK_WORDS]
    groups = (
        (strong, 1.0),
        ([word for word in words if word in WEAK_WORDS], WEAK_WEIGHT if strong else 1.0),
        ([word for word in synonyms_of(strong) if word not in words], SYNONYM_WEIGHT),
        (_servers_meant(tools, strong), SERVER_WEIGHT),
    )
    queries = [WeightedQuery(_any_of(group), weight) for group, weight in groups if group]
    return rank_documents([_document(tool) for tool in tools], FIELD_WEIGHTS, queries, limit)


def query_words(query: str) -> list[str]:
    """Return the words of a query without stop words, unless there are no others."""
    every = list(dict.fromkeys(_WORD.findall(fold(_separated(query)))))[:MAX_QUERY_WORDS]
    return [word for word in every if word not in STOP_WORDS] or every


def _servers_meant(tools: Sequence[RankedTool], words: Sequence[str]) -> list[str]:
    """Return the servers whose names contain a word of the query, such as `gdrive` for `drive`."""
    names = dict.fromkeys(name for tool in tools for name in _WORD.findall(fold(_separated(tool.server))))
    parts = [word for word in words if len(word) >= MIN_SERVER_PART]
    return [name for name in names if name not in words and any(part in name for part in parts)]


def _any_of(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)


def _document(tool: RankedTool) -> tuple[str, str, str, str]:
    parameters = " ".join(_parameter_words(tool.schema.parameters, 0))
    return (
        _separated(tool.name),
        _separated(tool.server),
        separate_words(tool.schema.description[:MAX_DESCRIPTION_CHARS]),
        _separated(parameters[:MAX_DESCRIPTION_CHARS]),
    )


def _separated(name: str) -> str:
    """Return a name like `createIssue` or `create_issue` as words."""
    return separate_words(_CAMEL.sub(" ", name).replace("_", " "))


def _parameter_words(schema: Mapping[str, object], depth: int) -> Iterator[str]:
    """Yield the names and descriptions of parameters."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or depth > MAX_PARAMETER_DEPTH:
        return
    for name, about in cast("dict[str, object]", properties).items():
        yield name
        if isinstance(about, dict):
            facts = cast("dict[str, object]", about)
            description = facts.get("description")
            if isinstance(description, str):
                yield description
            yield from _parameter_words(facts, depth + 1)
