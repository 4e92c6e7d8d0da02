"""Compare a version's stable schema with the full one, and list everything that is only in the full one."""

from msgspec import Struct

from generator.model import Alias, Definition, Protocol, Record, Shape, Union


class NotASupersetError(Exception):
    """The full schema contradicts the stable one: one set of types cannot represent both."""


class Stability(Struct, frozen=True, kw_only=True):
    """The unstable parts: whole definitions, fields of stable records by their wire names, and methods."""

    names: frozenset[str]
    fields: dict[str, tuple[str, ...]]
    methods: frozenset[str]


def compare(stable: Protocol, full: Protocol) -> Stability:
    """Return the parts that are only in `full`. Raises `NotASupersetError` with every contradiction."""
    known = {definition.name: definition for definition in stable.definitions}
    found = {definition.name: definition for definition in full.definitions}
    contradictions = find_contradictions(stable, full)
    if contradictions:
        raise NotASupersetError("; ".join(contradictions))
    fields: dict[str, tuple[str, ...]] = {}
    for name, definition in known.items():
        grown = found[name]
        if isinstance(definition, Record) and isinstance(grown, Record):
            old = {field.wire for field in definition.fields}
            if new := tuple(field.wire for field in grown.fields if field.wire not in old):
                fields[name] = new
    return Stability(
        names=frozenset(found.keys() - known.keys()),
        fields=fields,
        methods=frozenset(row.name for row in full.methods) - {row.name for row in stable.methods},
    )


def find_contradictions(stable: Protocol, full: Protocol) -> list[str]:
    """Describe each stable definition or method that is missing from `full` or differs there."""
    found = {definition.name: definition for definition in full.definitions}
    contradictions: list[str] = []
    for definition in stable.definitions:
        grown = found.get(definition.name)
        if grown is None:
            contradictions.append(f"{definition.name} is missing")
        else:
            contradictions += [f"{definition.name}: {each}" for each in _differences(definition, grown)]
    rows = set(full.methods)
    contradictions += [f"the method {row.name} differs" for row in stable.methods if row not in rows]
    return contradictions


def _differences(old: Definition, new: Definition) -> list[str]:
    match old, new:
        case Record(), Record():
            return _record_differences(old, new)
        case Union(), Union():
            return _union_differences(old, new)
        case Alias(), Alias():
            return [] if old.shape == new.shape else ["a different type"]
        case _:
            return ["a different kind of definition"]


def _record_differences(old: Record, new: Record) -> list[str]:
    traits = ("parent", "tag_field", "tag", "any_of", "constants")
    differences = [f"another {trait}" for trait in traits if getattr(old, trait) != getattr(new, trait)]
    fields = {field.wire: field for field in new.fields}
    differences += [
        f"the field {field.wire} differs" for field in old.fields if fields.get(field.wire) != field
    ]
    known = {field.wire for field in old.fields}
    differences += [
        f"the new field {field.wire} is required"
        for field in new.fields
        if field.required and field.wire not in known
    ]
    return differences


def _union_differences(old: Union, new: Union) -> list[str]:
    kept: tuple[Shape, ...] = tuple(member for member in new.members if member in old.members)
    differences = [] if kept == old.members else ["different variants, or in a different order"]
    if old.open != new.open:
        differences.append("open in one, closed in the other")
    return differences
