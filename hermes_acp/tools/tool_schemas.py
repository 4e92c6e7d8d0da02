"""Turn a tool's argument model into the compact JSON Schema shown to a model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from hermes_acp.core.messages import ToolSchema

if TYPE_CHECKING:
    from pydantic import BaseModel

_DROPPED = frozenset({"title", "additionalProperties", "$defs"})


def schema_of(name: str, description: str, model: "type[BaseModel]") -> ToolSchema:
    """Return a tool's schema, with references inlined and without titles, docstrings and null alternatives."""
    full = model.model_json_schema()
    definitions = cast("Mapping[str, object]", full.get("$defs", {}))
    return ToolSchema(name, description, cast("dict[str, object]", _compact(full, definitions)))


def _compact(schema: object, definitions: Mapping[str, object]) -> object:
    if isinstance(schema, list):
        return [_compact(item, definitions) for item in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    facts = cast("dict[str, object]", schema)
    if isinstance(reference := facts.get("$ref"), str):
        return _compact(definitions[reference.rpartition("/")[2]], definitions)
    kept = {
        key: value
        for key, value in facts.items()
        if key not in _DROPPED and (key, value) != ("default", None)
    }
    alternatives = [each for each in cast("list[object]", kept.get("anyOf", [])) if each != {"type": "null"}]
    if len(alternatives) == 1:
        del kept["anyOf"]
        kept = {**cast("dict[str, object]", alternatives[0]), **kept}
    properties = kept.get("properties")
    if properties:
        kept.pop("description", None)
    shrunk = {key: _compact(value, definitions) for key, value in kept.items() if key != "properties"}
    if isinstance(properties, dict):
        named = cast("dict[str, object]", properties)
        shrunk["properties"] = {key: _compact(value, definitions) for key, value in named.items()}
    return shrunk
