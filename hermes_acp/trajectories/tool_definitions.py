"""The tools of a trajectory: each definition once, and the definitions that belong to each set of tools."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from hermes_acp.core.messages import ToolSchema
from hermes_acp.storage.tool_schema_store import OfferedTools

ToolSets = dict[str, dict[str, list[int]]]
"""For each digest, the positions of the tools and of the deferred tools among the definitions."""


def definitions_of(tools: Mapping[str, OfferedTools]) -> tuple[list[dict[str, Any]], ToolSets]:
    """Return the definitions in the format of OpenAI's function calling, and the sets by digest."""
    places: dict[bytes, int] = {}
    definitions: list[dict[str, Any]] = []

    def place(schema: ToolSchema) -> int:
        key = msgspec.json.encode(schema, order="deterministic")
        if key not in places:
            places[key] = len(definitions)
            definitions.append(definition(schema))
        return places[key]

    sets = {
        digest: {"tools": [place(each) for each in tools[digest].tools]}
        | ({"deferred": [place(each) for each in deferred]} if (deferred := tools[digest].deferred) else {})
        for digest in tools
    }
    return definitions, sets


def definition(schema: ToolSchema) -> dict[str, Any]:
    """Return a tool in the format of OpenAI's function calling."""
    function = {"name": schema.name, "description": schema.description, "parameters": schema.parameters}
    return {"type": "function", "function": function}


def offered_from(definitions: Sequence[Mapping[str, Any]], sets: ToolSets) -> dict[str, OfferedTools]:
    """Return the sets of tools, without those that contain an unreadable definition."""
    offered: dict[str, OfferedTools] = {}
    for digest, places in sets.items():
        try:
            tools = tuple(_schema(definitions[place]) for place in places.get("tools", ()))
            deferred = tuple(_schema(definitions[place]) for place in places.get("deferred", ()))
        except (LookupError, TypeError, msgspec.ValidationError):
            continue
        offered[digest] = OfferedTools(tools, deferred)
    return offered


def _schema(described: Mapping[str, Any]) -> ToolSchema:
    return msgspec.convert(cast("object", described["function"]), type=ToolSchema)
