"""Derive the JSON Schema of a tool's arguments from the parameters of its function."""

import ast
import json
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final, cast

from hermes_acp.tools.custom.tool_declaration import ToolFileError

SIMPLE: Final = MappingProxyType(
    {
        "str": "string",
        "int": "integer",
        "float": "number",
        "bool": "boolean",
        "list": "array",
        "dict": "object",
    }
)
HOW: Final = (
    "str, int, float, bool, list[…], dict[str, …], Literal[…], … | None "
    'and Annotated[…, "what it is"] are supported'
)


class UnsupportedAnnotation(Exception):
    """An annotation or a default that has no JSON equivalent."""

    def __init__(self, node: ast.expr, words: str) -> None:
        super().__init__(words)
        self.fault = ToolFileError(node.lineno, words)


def schema_from(function: ast.FunctionDef) -> tuple[dict[str, object], tuple[ToolFileError, ...]]:
    """Return the schema of a function's arguments, and errors for those that cannot be described."""
    properties: dict[str, object] = {}
    required: list[str] = []
    faults: list[ToolFileError] = list(faults_in_shape(function))
    for parameter, default in parameters_of(function):
        if parameter.annotation is None:
            faults.append(
                ToolFileError(parameter.lineno, f"the parameter {parameter.arg} of run has no type: {HOW}.")
            )
            continue
        try:
            schema = _schema(parameter.annotation)
            if default is None:
                required.append(parameter.arg)
            elif (value := literal(default)) is not None:
                schema = {**schema, "default": value}
        except UnsupportedAnnotation as error:
            faults.append(error.fault)
            continue
        properties[parameter.arg] = schema
    found: dict[str, object] = {"type": "object", "properties": properties}
    return ({**found, "required": required} if required else found), tuple(faults)


def faults_in_shape(function: ast.FunctionDef) -> Iterator[ToolFileError]:
    """Yield an error for everything that prevents calling a function with keyword arguments only."""
    if function.args.posonlyargs:
        yield ToolFileError(function.lineno, "run is called with keyword arguments: remove the `/`.")
    if function.args.vararg:
        yield ToolFileError(
            function.lineno,
            f"run is called with keyword arguments: *{function.args.vararg.arg} never receives anything.",
        )


def parameters_of(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return the named parameters, each with its default."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(named) - len(arguments.defaults))
    return [
        *zip(named, [*missing, *arguments.defaults], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]


def literal(node: ast.expr) -> Any:
    """Return the value of a literal expression. Raises UnsupportedAnnotation if it is not plain JSON."""
    try:
        value = ast.literal_eval(node)
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
        shown = _shown(node)
        raise UnsupportedAnnotation(
            node, f"{shown} is not a plain value (text, number, True, None, list, dict)."
        ) from None
    return value


def _schema(node: ast.expr) -> dict[str, object]:
    match node:
        case ast.Name(id=name) if name in SIMPLE:
            return {"type": SIMPLE[name]}
        case ast.Constant(value=None):
            return {"type": "null"}
        case ast.Constant(value=str(text)):
            return _schema(_annotation_in(node, text))
        case ast.BinOp(op=ast.BitOr()):
            return _either(list(_alternatives(node)))
        case ast.Subscript(value=name, slice=inner):
            return _parametrised(_last_name(name), inner, node)
        case ast.Name(id="Any") | ast.Attribute(attr="Any"):
            return {}
        case _:
            raise UnsupportedAnnotation(node, f"the type {_shown(node)} is not supported: {HOW}.")


def _parametrised(name: str, inner: ast.expr, node: ast.expr) -> dict[str, object]:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    match name, parts:
        case ("list" | "List", [one]):
            return {"type": "array", "items": _schema(one)}
        case ("dict" | "Dict", [ast.Name(id="str"), value]):
            return {"type": "object", "additionalProperties": _schema(value)}
        case "Optional", [one]:
            return _either([one])
        case "Union", [_, *_]:
            return _either([part for each in parts for part in _alternatives(each)])
        case "Literal", [_, *_]:
            return {"enum": [literal(part) for part in parts]}
        case "Annotated", [one, *notes]:
            words = [
                each.value for each in notes if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
            return {**_schema(one), **({"description": words[0]} if words else {})}
        case _:
            raise UnsupportedAnnotation(node, f"the type {_shown(node)} is not supported: {HOW}.")


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _alternatives(node.left)
        yield node.right
    else:
        yield node


def _either(parts: list[ast.expr]) -> dict[str, object]:
    """Return a schema that matches any of the given types; None is left out, as in the builtin tools."""
    schemas = [schema for part in parts if (schema := _schema(part)) != {"type": "null"}]
    if len(schemas) == 1:
        return schemas[0]
    return {"anyOf": cast("list[object]", schemas)}


def _annotation_in(node: ast.expr, text: str) -> ast.expr:
    try:
        return ast.copy_location(ast.parse(text, mode="eval").body, node)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnsupportedAnnotation(node, f"the type {text[:80]!r} is not supported: {HOW}.") from None


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _shown(node: ast.expr) -> str:
    try:
        text = ast.unparse(node)
    except (ValueError, RecursionError, MemoryError):
        return "of this annotation"
    return f"`{text[:80]}`"
