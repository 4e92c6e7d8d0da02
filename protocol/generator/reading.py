"""Read a reduced schema into the model.

Knows: the patterns the protocol's schema writes records, unions and enumerations in.
Does not know: any output language.
"""

from typing import Any, Final, cast

from generator.model import (
    Alias,
    Anything,
    Array,
    Choice,
    Definition,
    Field,
    Literals,
    Marks,
    MethodRow,
    Null,
    OpenLiterals,
    Primitive,
    Protocol,
    Record,
    Reference,
    Shape,
    Table,
    Union,
    names_used,
)

JsonObject = dict[str, Any]
MARK_KEYWORDS: Final = (
    ("x-deserialize-default-on-error", Marks.DEFAULT_ON_ERROR),
    ("x-deserialize-skip-invalid-items", Marks.SKIP_INVALID_ITEMS),
    ("x-deserialize-default-on-null", Marks.DEFAULT_ON_NULL),
)
SIDES: Final = {"agent": "agent", "client": "client", "protocol": "both"}


class UnreadableSchemaError(Exception):
    """The schema uses a pattern the reader does not know: teach it, do not guess."""


class SchemaReader:
    """Reads one schema; every lookup goes through its definitions."""

    def __init__(self, schema: JsonObject) -> None:
        everything = cast(dict[str, JsonObject], schema["$defs"])
        self._schemas = {name: part for name, part in everything.items() if not part.get("x-docs-ignore")}
        self._uses = _count_references(list(self._schemas.values()))
        self._records: dict[str, Record] = {}
        self._others: dict[str, Definition] = {}

    def read(self) -> Protocol:
        """Return the whole version; raises `UnreadableSchemaError`."""
        for name, schema in self._schemas.items():
            if not _variants(schema) and _is_object(schema):
                self._records[name] = self._record(name, [schema])
        for name, schema in self._schemas.items():
            if name not in self._records:
                self._read_other(name, schema)
        definitions: list[Definition] = [*self._records.values(), *self._others.values()]
        return Protocol(definitions=_in_dependency_order(definitions), methods=self._methods())

    def _read_other(self, name: str, schema: JsonObject) -> None:
        variants = _variants(schema)
        if "properties" in schema and all(_sole_reference(variant) for variant in variants):
            self._records[name] = self._record(name, [schema])
        elif variants and all(self._is_object_variant(variant) for variant in variants):
            self._others[name] = self._union(name, schema, variants)
        else:
            self._others[name] = _value_definition(name, shape_of(schema))

    def _is_object_variant(self, variant: JsonObject) -> bool:
        target = _sole_reference(variant)
        return _is_object(self._schemas[target]) if target else _is_object(variant)

    def _record(self, name: str, parts: list[JsonObject], tag: tuple[str, str] | None = None) -> Record:
        fields: dict[str, Field] = {}
        any_of: list[str] = []
        for part in parts:
            self._collect(part, fields, any_of)
        if tag:
            fields.pop(tag[0], None)
        return Record(
            name=name,
            fields=tuple(fields.values()),
            tag_field=tag[0] if tag else None,
            tag=tag[1] if tag else None,
            any_of=tuple(any_of),
        )

    def _collect(self, schema: JsonObject, fields: dict[str, Field], any_of: list[str]) -> None:
        required = schema.get("required", [])
        for wire, part in cast(dict[str, JsonObject], schema.get("properties", {})).items():
            fields[wire] = _field(wire, part, wire in required)
        for part in cast(list[JsonObject], schema.get("allOf", [])):
            self._collect(self._target(part), fields, any_of)
        for variant in _variants(schema):
            target = self._target(variant) if _sole_reference(variant) else None
            if target is None:
                continue
            any_of.extend(target.get("required", []))
            for wire, part in cast(dict[str, JsonObject], target["properties"]).items():
                fields[wire] = _field(wire, part, False)

    def _target(self, part: JsonObject) -> JsonObject:
        name = _sole_reference(part)
        if name is None:
            raise UnreadableSchemaError(f"expected one reference, found the keywords {sorted(part)}")
        return self._schemas[name]

    def _union(self, name: str, schema: JsonObject, variants: list[JsonObject]) -> Definition:
        tag_field = _tag_field(variants)
        members: list[Shape] = []
        is_open = False
        for variant in variants:
            tag = _const_of(variant, tag_field)
            is_open = is_open or tag is None
            members.append(Reference(self._variant(name, schema, variant, tag_field, tag)))
        if len(members) == 1:
            return Alias(name=name, shape=members[0])
        return Union(name=name, members=tuple(members), open=is_open)

    def _variant(
        self, union: str, schema: JsonObject, variant: JsonObject, tag_field: str | None, tag: str | None
    ) -> str:
        tagged = (tag_field, tag) if tag_field and tag else None
        payload = _payload(variant, tag_field)
        if "properties" not in schema and payload:
            return self._payload_variant(union, payload, tagged)
        if tag:
            name = union + _pascal(tag)
        else:
            name = union + ("Other" if tag_field and tag_field in variant.get("properties", {}) else "Plain")
        outer = {"properties": schema.get("properties", {}), "required": schema.get("required", [])}
        self._add_record(self._record(name, [outer, variant], tagged))
        return name

    def _payload_variant(self, union: str, payload: str, tagged: tuple[str, str] | None) -> str:
        """Name the record of a variant that is nothing but another definition and perhaps a tag.

        A definition used nowhere else takes the tag itself; a shared one gets a tagged heir.
        """
        record = self._records[payload]
        if tagged is None:
            return payload
        tag_field, tag = tagged
        if self._uses[payload] == 1:
            self._records[payload] = Record(
                name=payload, fields=record.fields, any_of=record.any_of, tag_field=tag_field, tag=tag
            )
            return payload
        name = _pascal(tag)
        if name in self._schemas or name in self._records:
            name = union + name
        self._add_record(Record(name=name, fields=(), parent=payload, tag_field=tag_field, tag=tag))
        return name

    def _add_record(self, record: Record) -> None:
        if record.name in self._schemas or record.name in self._records:
            raise UnreadableSchemaError(
                f"the variant name {record.name} is taken; change how variants are named"
            )
        self._records[record.name] = record

    def _methods(self) -> tuple[MethodRow, ...]:
        found: dict[str, dict[str, str]] = {}
        for name, schema in self._schemas.items():
            if "x-method" in schema:
                role = "result" if name.endswith("Response") else "params"
                found.setdefault(schema["x-method"], {"side": schema["x-side"]})[role] = name
        rows: list[MethodRow] = []
        for method, roles in sorted(found.items()):
            key = method.removeprefix("$/").replace("/", "_")
            is_notification = roles["params"].endswith("Notification")
            if is_notification == ("result" in roles):
                raise UnreadableSchemaError(f"{method}: a request needs a response, a notification has none")
            side = SIDES[roles["side"]]
            rows.append(
                MethodRow(name=method, key=key, side=side, params=roles["params"], result=roles.get("result"))
            )
        return tuple(rows)


def shape_of(schema: JsonObject) -> Shape:
    """Read a schema in value position."""
    if name := _sole_reference(schema):
        return Reference(name)
    if "const" in schema:
        return Literals((schema["const"],))
    if "enum" in schema:
        return Literals(tuple(schema["enum"]))
    if members := _variants(schema):
        return _choice([shape_of(member) for member in members])
    kind = schema.get("type")
    if isinstance(kind, list):
        return _choice([shape_of({**schema, "type": each}) for each in cast(list[str], kind)])
    if "properties" in schema:
        raise UnreadableSchemaError(
            f"an object without a name with the properties {sorted(schema['properties'])}"
        )
    match kind:
        case None:
            return Anything()
        case "null":
            return Null()
        case "array":
            return Array(shape_of(schema["items"]))
        case "object":
            values = schema.get("additionalProperties", True)
            return Table(Anything() if values is True else shape_of(values))
        case _:
            return Primitive(cast(str, kind), schema.get("format"), schema.get("minLength"))


def _choice(members: list[Shape]) -> Shape:
    literals = tuple(value for member in members if isinstance(member, Literals) for value in member.values)
    others = [member for member in members if not isinstance(member, Literals)]
    if literals and not others:
        return Literals(literals)
    if literals and len(others) == 1 and isinstance(others[0], Primitive):
        return OpenLiterals(literals, others[0])
    return Choice(tuple(members))


def _value_definition(name: str, shape: Shape) -> Definition:
    if isinstance(shape, Choice) and sum(isinstance(member, Array) for member in shape.members) > 1:
        return Union(name=name, members=shape.members, open=True)
    return Alias(name=name, shape=shape)


def _field(wire: str, schema: JsonObject, required: bool) -> Field:
    marks = Marks.NONE
    for keyword, mark in MARK_KEYWORDS:
        if schema.get(keyword):
            marks |= mark
    shape = shape_of(schema)
    if wire == "_meta" and (marks != Marks.DEFAULT_ON_ERROR or required):
        raise UnreadableSchemaError(
            "a `_meta` that is required or not dropped on error; the salvage relies on both"
        )
    if required and marks and not isinstance(shape, Array | Table):
        raise UnreadableSchemaError(
            f"{wire} is required and marked lenient, but has no empty value to stand in for it"
        )
    return Field(wire=wire, shape=shape, required=required, marks=marks)


def _variants(schema: JsonObject) -> list[JsonObject]:
    return cast(list[JsonObject], schema.get("oneOf") or schema.get("anyOf") or [])


def _is_object(schema: JsonObject) -> bool:
    return schema.get("type") == "object" or "properties" in schema


def _sole_reference(schema: JsonObject) -> str | None:
    if "$ref" in schema:
        return cast(str, schema["$ref"]).removeprefix("#/$defs/")
    parts = cast(list[JsonObject], schema.get("allOf", []))
    if len(parts) == 1 and not _is_object(schema):
        return _sole_reference(parts[0])
    return None


def _tag_field(variants: list[JsonObject]) -> str | None:
    names = {
        wire
        for variant in variants
        for wire, part in cast(dict[str, JsonObject], variant.get("properties", {})).items()
        if "const" in part
    }
    if len(names) > 1:
        raise UnreadableSchemaError(f"a union with several tag fields: {sorted(names)}")
    return names.pop() if names else None


def _const_of(variant: JsonObject, tag_field: str | None) -> str | None:
    return variant.get("properties", {}).get(tag_field, {}).get("const")


def _payload(variant: JsonObject, tag_field: str | None) -> str | None:
    """Name the definition a variant consists of, if it adds nothing but the tag."""
    if name := _sole_reference(variant):
        return name
    if set(variant.get("properties", {})) == {tag_field} and len(variant.get("allOf", [])) == 1:
        return _sole_reference(variant["allOf"][0])
    return None


def _pascal(tag: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in tag.replace("-", "_").split("_"))


def _count_references(schemas: list[JsonObject]) -> dict[str, int]:
    counts: dict[str, int] = {}
    pending: list[Any] = list(schemas)
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            table = cast(JsonObject, part)
            if isinstance(table.get("$ref"), str):
                name = table["$ref"].removeprefix("#/$defs/")
                counts[name] = counts.get(name, 0) + 1
            pending.extend(table.values())
        elif isinstance(part, list):
            pending.extend(cast(list[Any], part))
    return counts


def _in_dependency_order(definitions: list[Definition]) -> tuple[Definition, ...]:
    by_name = {definition.name: definition for definition in definitions}
    done: dict[str, Definition] = {}
    started: set[str] = set()

    def visit(definition: Definition) -> None:
        if definition.name in started:
            return
        started.add(definition.name)
        for name in names_used(definition):
            visit(by_name[name])
        done[definition.name] = definition

    for definition in definitions:
        visit(definition)
    return tuple(done.values())
