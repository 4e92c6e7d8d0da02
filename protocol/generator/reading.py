"""Read a reduced schema into the model."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec import structs

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
from generator.schema_parts import (
    UnreadableSchemaError,
    const_of,
    distinction_of,
    is_object,
    pascal,
    payload_of,
    refined_property,
    sole_reference,
    tag_field_of,
    variants_of,
)

JsonObject = dict[str, Any]
MARK_KEYWORDS: Final = (
    ("x-deserialize-default-on-error", Marks.DEFAULT_ON_ERROR),
    ("x-deserialize-skip-invalid-items", Marks.SKIP_INVALID_ITEMS),
    ("x-deserialize-default-on-null", Marks.DEFAULT_ON_NULL),
)
INTEGER_BOUNDS: Final[Mapping[str | None, tuple[int | None, int | None]]] = MappingProxyType(
    {
        "int32": (-(2**31), 2**31 - 1),
        "int64": (-(2**63), 2**63 - 1),
        "uint16": (0, 2**16 - 1),
        "uint32": (0, 2**32 - 1),
        "uint64": (0, None),
    }
)
SIDES: Final = MappingProxyType({"agent": "agent", "client": "client", "protocol": "both", "proxy": "proxy"})


class SchemaReader:
    """Reads one schema, looking everything up in its definitions."""

    def __init__(self, schema: JsonObject) -> None:
        everything = cast(dict[str, JsonObject], schema["$defs"])
        self._schemas = {name: part for name, part in everything.items() if not part.get("x-docs-ignore")}
        self._uses = _count_references(list(self._schemas.values()))
        self._records: dict[str, Record] = {}
        self._others: dict[str, Definition] = {}

    def read(self) -> Protocol:
        """Return the whole version. Raises `UnreadableSchemaError`."""
        for name, schema in self._schemas.items():
            if not variants_of(schema) and is_object(schema):
                self._records[name] = self._record(name, [schema])
        for name in self._schemas:
            self._read_other(name)
        definitions: list[Definition] = [*self._records.values(), *self._others.values()]
        return Protocol(definitions=_in_dependency_order(definitions), methods=self._methods())

    def _read_other(self, name: str) -> None:
        if name in self._records or name in self._others:
            return
        schema = self._schemas[name]
        variants = variants_of(schema)
        if "properties" in schema and all(sole_reference(variant) for variant in variants):
            self._records[name] = self._record(name, [schema])
        elif wire := refined_property(schema):
            self._records[name] = self._refined(name, schema, wire)
        elif variants and all(self._is_object_variant(variant) for variant in variants):
            self._others[name] = self._union(name, schema, variants)
        else:
            self._others[name] = _value_definition(name, shape_of(schema))

    def _is_object_variant(self, variant: JsonObject) -> bool:
        target = sole_reference(variant)
        return is_object(self._schemas[target]) if target else is_object(variant)

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
        for variant in variants_of(schema):
            target = self._target(variant) if sole_reference(variant) else None
            if target is None:
                continue
            any_of.extend(target.get("required", []))
            for wire, part in cast(dict[str, JsonObject], target["properties"]).items():
                fields[wire] = _field(wire, part, False)

    def _refined(self, name: str, schema: JsonObject, wire: str) -> Record:
        """Read an object whose variants only refine one of its own properties, as one record with all fields."""
        fields: dict[str, Field] = {}
        self._collect({**schema, "anyOf": []}, fields, [])
        values: list[Shape] = []
        for variant in variants_of(schema):
            found: dict[str, Field] = {}
            self._collect(variant, found, [])
            values.append(found.pop(wire).shape)
            for field in found.values():
                fields.setdefault(field.wire, structs.replace(field, required=False))
        fields[wire] = structs.replace(fields[wire], shape=_choice(values))
        return Record(name=name, fields=tuple(fields.values()))

    def _target(self, part: JsonObject) -> JsonObject:
        name = sole_reference(part)
        if name is None:
            raise UnreadableSchemaError(f"expected one reference, found the keywords {sorted(part)}")
        return self._schemas[name]

    def _union(self, name: str, schema: JsonObject, variants: list[JsonObject]) -> Definition:
        tag_field = tag_field_of(variants)
        members: list[Shape] = []
        is_open = False
        for variant in variants:
            tag = const_of(variant, tag_field)
            nested = self._nested_union(variant, tag_field)
            is_open = is_open or tag is None or nested is not None
            if nested and tag_field and tag:
                members.extend(self._heirs(name, nested, tag_field, tag))
                continue
            members.append(Reference(self._variant(name, schema, variant, tag_field, tag)))
        if len(members) == 1:
            return Alias(name=name, shape=members[0])
        return Union(name=name, members=tuple(members), open=is_open)

    def _nested_union(self, variant: JsonObject, tag_field: str | None) -> Union | None:
        payload = payload_of(variant, tag_field)
        if payload is None:
            return None
        self._read_other(payload)
        found = self._others.get(payload)
        return found if isinstance(found, Union) else None

    def _heirs(self, union: str, nested: Union, tag_field: str, tag: str) -> tuple[Shape, ...]:
        """Return a derived record with the outer tag for each member of a union that is itself a variant.

        The inner tag remains a field. The union of the derived records is named after both.
        """
        heirs: list[Shape] = []
        for member in nested.members:
            if not isinstance(member, Reference):
                raise UnreadableSchemaError(
                    f"{nested.name}, a variant of {union}, has a member without a name"
                )
            parent = self._records[member.name]
            constants = ((parent.tag_field, parent.tag),) if parent.tag_field and parent.tag else ()
            heir = Record(
                name=union + parent.name,
                fields=(),
                parent=parent.name,
                tag_field=tag_field,
                tag=tag,
                constants=constants,
            )
            self._add_record(heir)
            heirs.append(Reference(heir.name))
        both = union + nested.name
        self._others[both] = Union(name=both, members=tuple(heirs), open=True)
        return tuple(heirs)

    def _variant(
        self, union: str, schema: JsonObject, variant: JsonObject, tag_field: str | None, tag: str | None
    ) -> str:
        tagged = (tag_field, tag) if tag_field and tag else None
        payload = payload_of(variant, tag_field)
        if "properties" not in schema and payload:
            return self._payload_variant(union, payload, tagged)
        if tag:
            name = union + pascal(tag)
        elif tag_field and tag_field in variant.get("properties", {}):
            name = union + "Other"
        else:
            name = union + distinction_of(variant, variants_of(schema))
        outer = {"properties": schema.get("properties", {}), "required": schema.get("required", [])}
        self._add_record(self._record(name, [outer, variant], tagged))
        return name

    def _payload_variant(self, union: str, payload: str, tagged: tuple[str, str] | None) -> str:
        """Name the record of a variant that consists of another definition and possibly a tag.

        A definition used nowhere else gets the tag itself; a shared one gets a derived record with the tag.
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
        name = pascal(tag)
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
        found: dict[tuple[str, bool], dict[str, str]] = {}
        for name, schema in self._schemas.items():
            if "x-method" in schema:
                role = "result" if name.endswith("Response") else "params"
                key = (schema["x-method"], name.endswith("Notification"))
                found.setdefault(key, {"side": schema["x-side"]})[role] = name
        rows: list[MethodRow] = []
        for (method, is_notification), roles in sorted(found.items()):
            key = method.removeprefix("$/").replace("/", "_")
            if is_notification == ("result" in roles):
                raise UnreadableSchemaError(f"{method}: a request needs a response, a notification has none")
            side = SIDES[roles["side"]]
            rows.append(
                MethodRow(name=method, key=key, side=side, params=roles["params"], result=roles.get("result"))
            )
        return tuple(rows)


def shape_of(schema: JsonObject) -> Shape:
    """Read a schema in value position."""
    if name := sole_reference(schema):
        return Reference(name)
    if "const" in schema:
        return Literals((schema["const"],))
    if "enum" in schema:
        return Literals(tuple(schema["enum"]))
    if members := variants_of(schema):
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
            return Array(shape_of(schema["items"]), schema.get("minItems"))
        case "object":
            values = schema.get("additionalProperties", True)
            return Table(Anything() if values is True else shape_of(values))
        case _:
            return _primitive(cast(str, kind), schema)


def _primitive(kind: str, schema: JsonObject) -> Primitive:
    format_ = schema.get("format")
    bounds = (schema.get("minimum"), schema.get("maximum"))
    own = INTEGER_BOUNDS.get(format_, (None, None))
    least, most = (bound if bound != usual else None for bound, usual in zip(bounds, own, strict=True))
    return Primitive(kind, format_, schema.get("minLength"), least, most)


def _choice(members: list[Shape]) -> Shape:
    literals = tuple(value for member in members if isinstance(member, Literals) for value in member.values)
    others = [member for member in members if not isinstance(member, Literals)]
    if literals and not others:
        return Literals(literals)
    primitives = [member for member in others if isinstance(member, Primitive)]
    if not literals or len(primitives) != 1:
        return Choice(tuple(members))
    known = OpenLiterals(literals, primitives[0])
    rest = [member for member in others if not isinstance(member, Primitive)]
    return Choice((known, *rest)) if rest else known


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
            f"{wire} is required and marked lenient, but has no empty value to replace it"
        )
    return Field(wire=wire, shape=shape, required=required, marks=marks)


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
