"""Parse a tool file without running it: check whether it is valid, what it declares and what is wrong with it.

TOOL = {"name": "count_lines", "description": "Count lines.", "files": "read"}

def run(folder: str = ".") -> str: ...
"""

import ast
import re
import warnings
from collections.abc import Callable, Collection
from types import MappingProxyType
from typing import Any, Final, cast

from hermes_acp.tools.custom.argument_validation import schema_error
from hermes_acp.tools.custom.signature_schemas import (
    UnsupportedAnnotation,
    faults_in_shape,
    literal,
    parameters_of,
    schema_from,
)
from hermes_acp.tools.custom.tool_declaration import (
    MAX_TIMEOUT_S,
    CheckedToolFile,
    ToolDeclaration,
    ToolFileError,
)
from hermes_acp.tools.custom.tool_imports import faults_in_imports, imports_of

MAX_BYTES: Final = 100_000
MAX_DESCRIPTION_CHARS: Final = 1_000
MAX_HOSTS: Final = 20
NAME: Final = re.compile(r"[a-z][a-z0-9_]{1,47}")
NEEDED_NAME: Final = re.compile(r"[A-Za-z][\w-]{0,127}")
SERVERS: Final = "mcp__"
HOST: Final = re.compile(
    r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+(?::\d{1,5})?"
)
SHAPE: Final = 'TOOL = {"name": "…", "description": "…"}'


def check_tool_source(source: str, stem: str, taken: Collection[str] = ()) -> CheckedToolFile:
    """Check the source of `stem`.py; the names in `taken` belong to other tools. Never raises, whatever the text."""
    if len(source) > MAX_BYTES or len(source.encode("utf-8", "replace")) > MAX_BYTES:
        return _unreadable(0, f"a tool may have at most {MAX_BYTES:,} bytes.")
    try:
        tree = _parsed(source)
        return _ToolFileReader(tree, stem, taken).result()
    except SyntaxError as error:
        return _unreadable(error.lineno or 0, f"not valid Python: {error.msg}.")
    except (RecursionError, MemoryError):
        return _unreadable(0, "it is nested too deeply.")
    except ValueError as error:
        return _unreadable(0, f"not valid Python: {error}.")


def bindings(tree: ast.Module, name: str) -> list[int]:
    """Return the lines on which a module binds a name, in any syntax."""
    lines: list[int] = []
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=found, ctx=ast.Store() | ast.Del()) if found == name:
                lines.append(node.lineno)
            case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) | ast.ClassDef(name=found):
                lines += [node.lineno] if found == name and node in tree.body else []
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                lines += [node.lineno for each in aliases if name in (each.asname or each.name, each.asname)]
            case _:
                pass
    return sorted(lines)


def _parsed(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as invalid escapes in the tool's code
        return ast.parse(source)


def _unreadable(line: int, words: str) -> CheckedToolFile:
    return CheckedToolFile(None, (ToolFileError(line, words),))


class _ToolFileReader:
    """Parses one file and collects every fault, not just the first."""

    def __init__(self, tree: ast.Module, stem: str, taken: Collection[str]) -> None:
        self._tree = tree
        self._stem = stem
        self._taken = taken
        self._faults: list[ToolFileError] = []
        self._line = 0

    def result(self) -> CheckedToolFile:
        """Return the result of the check."""
        function = self._function()
        facts = self._facts()
        declared = None if facts is None else self._declaration(facts, function)
        imports = imports_of(self._tree)
        if facts is not None:
            said = {key: value for key, (_, value) in facts.items()}
            modules = said.get("modules")
            self._faults += faults_in_imports(
                imports,
                modules=cast("list[object]", modules) if isinstance(modules, list) else (),
                has_network=bool(said.get("network")),
                has_processes=bool(said.get("processes")),
            )
        faults = tuple(sorted(dict.fromkeys(self._faults), key=lambda fault: fault.line))
        return CheckedToolFile(
            None if faults else declared, faults, tuple(dict.fromkeys(name for _, name in imports))
        )

    def _function(self) -> ast.FunctionDef | None:
        found = [node for node in self._tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        named = [node for node in found if node.name == "run"]
        if len(named) != 1:
            self._fault(
                named[1].lineno if named else 0,
                f"there must be exactly one function `run` at the top level; there {_are(len(named))}.",
            )
            return None
        (function,) = named
        if isinstance(function, ast.AsyncFunctionDef):
            self._fault(function.lineno, "run must be a plain function: `def`, not `async def`.")
            return None
        return function

    def _facts(self) -> dict[str, tuple[int, Any]] | None:
        """Return the entries of TOOL, each with its line, or None if there is no readable TOOL."""
        lines = bindings(self._tree, "TOOL")
        if len(lines) != 1:
            words = f"there must be exactly one {SHAPE} at the top level; there {_are(len(lines))}."
            self._fault(lines[1] if lines else 0, words)
            return None
        self._line = lines[0]
        for node in self._tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id="TOOL")], value=ast.Dict() as value):
                    return self._entries(value)
                case ast.AnnAssign(target=ast.Name(id="TOOL"), value=ast.Dict() as value):
                    return self._entries(value)
                case _:
                    pass
        self._fault(self._line, f"TOOL must be a plain dict at the top level of the file: {SHAPE}.")
        return None

    def _entries(self, node: ast.Dict) -> dict[str, tuple[int, Any]]:
        entries: dict[str, tuple[int, Any]] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                self._fault(value.lineno, "the keys of TOOL must be string literals.")
            elif key.value not in KEYS:
                self._fault(key.lineno, f"TOOL has no {key.value[:40]!r}; it has {', '.join(KEYS)}.")
            elif key.value in entries:
                self._fault(key.lineno, f"TOOL sets {key.value!r} twice.")
            else:
                try:
                    entries[key.value] = (value.lineno, literal(value))
                except UnsupportedAnnotation as trouble:
                    self._faults.append(trouble.fault)
        return entries

    def _declaration(
        self, facts: dict[str, tuple[int, Any]], function: ast.FunctionDef | None
    ) -> ToolDeclaration | None:
        for key in ("name", "description"):
            if key not in facts:
                self._fault(self._line, f'TOOL lacks "{key}": {SHAPE}.')
        given: dict[str, Any] = {}
        for key, (line, value) in facts.items():
            if key == "parameters":
                continue
            trouble = KEYS[key](value)
            if trouble:
                self._fault(line, f'"{key}" {trouble}')
            given[key] = tuple(cast("list[Any]", value)) if isinstance(value, list) else value
        self._check_name(facts)
        parameters = self._parameters(facts, function)
        if self._faults or parameters is None:
            return None
        given["description"] = " ".join(given["description"].split())
        given["timeout_s"] = float(given.get("timeout_s", 60))
        return ToolDeclaration(parameters=parameters, **given)

    def _check_name(self, facts: dict[str, tuple[int, Any]]) -> None:
        line, name = facts.get("name", (self._line, self._stem))
        if name != self._stem:
            self._fault(
                line,
                f"the tool is named {str(name)[:60]!r}, its file {self._stem[:60]!r}: both must be the same.",
            )
        if str(name).startswith(SERVERS):
            self._fault(line, f"names that start with {SERVERS} are reserved for tools of MCP servers.")
        if name in self._taken:
            self._fault(line, f"the name {name!r} belongs to another tool.")

    def _parameters(
        self, facts: dict[str, tuple[int, Any]], function: ast.FunctionDef | None
    ) -> dict[str, object] | None:
        """Return the schema of the arguments, as declared or derived from the types of `run`."""
        if function is None:
            return None
        if "parameters" not in facts:
            schema, faults = schema_from(function)
            self._faults += faults
            if function.args.kwarg:
                words = (
                    f'**{function.args.kwarg.arg} does not describe its arguments: add "parameters" to TOOL.'
                )
                self._fault(function.lineno, words)
            return schema
        line, stated = facts["parameters"]
        self._faults += faults_in_shape(function)
        if (trouble := _schema_error(stated)) != "":
            self._fault(line, trouble)
            return None
        schema = cast("dict[str, Any]", stated)
        taken = {parameter.arg: default for parameter, default in parameters_of(function)}
        unmet = [] if function.args.kwarg else [name for name in schema["properties"] if name not in taken]
        given = cast("list[str]", schema.get("required", []))
        needed = [name for name, default in taken.items() if default is None and name not in given]
        if unmet:
            self._fault(
                function.lineno, f"run takes no {', '.join(unmet)}, which the declared parameters include."
            )
        if needed:
            self._fault(
                function.lineno,
                f"run needs {', '.join(needed)}, which the declared parameters do not require.",
            )
        return schema

    def _fault(self, line: int, words: str) -> None:
        self._faults.append(ToolFileError(line, words))


def _are(count: int) -> str:
    return "is none" if count == 0 else f"are {count}"


def _schema_error(value: Any) -> str:
    if not isinstance(value, dict) or cast("dict[str, Any]", value).get("type") != "object":
        return '"parameters" must be a JSON Schema of an object: {"type": "object", "properties": {…}}.'
    schema = cast("dict[str, Any]", value)
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not all(
        isinstance(each, dict) for each in cast("dict[str, Any]", properties).values()
    ):
        return '"parameters" must have "properties", each of them a JSON Schema.'
    names = cast("dict[str, Any]", properties)
    if not all(name.isidentifier() for name in names):
        return "the names of parameters must be Python names."
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(name in names for name in cast("list[Any]", required)):
        return '"required" must be a list of the names in "properties".'
    wrong = schema_error(schema)
    return f'"parameters" is not a valid JSON Schema: {wrong}.' if wrong else ""


def _of_name(value: Any) -> str:
    if isinstance(value, str) and NAME.fullmatch(value):
        return ""
    return "must consist of 2 to 48 lower-case letters, digits and underscores."


def _of_description(value: Any) -> str:
    if isinstance(value, str) and value.strip() and len(value) <= MAX_DESCRIPTION_CHARS:
        return ""
    return f"must be text of at most {MAX_DESCRIPTION_CHARS:,} characters that tell a model what the tool is for."


def _of_files(value: Any) -> str:
    return "" if value in ("none", "read", "write") else 'must be "none", "read" or "write".'


def _of_network(value: Any) -> str:
    hosts = cast("list[Any]", value) if isinstance(value, list) else [None]
    if len(hosts) <= MAX_HOSTS and all(isinstance(host, str) and HOST.fullmatch(host) for host in hosts):
        return ""
    return f'must be a list of at most {MAX_HOSTS} full host names, such as ["api.example.com"].'


def _of_processes(value: Any) -> str:
    return "" if isinstance(value, bool) else "must be True or False."


def _of_modules(value: Any) -> str:
    names = cast("list[Any]", value) if isinstance(value, list) else [None]
    if all(isinstance(name, str) and name.isidentifier() for name in names):
        return ""
    return 'must be a list of top-level modules, such as ["yaml"].'


def _of_needs(value: Any) -> str:
    names = cast("list[Any]", value) if isinstance(value, list) else [None]
    if all(isinstance(name, str) and NEEDED_NAME.fullmatch(name) for name in names):
        return ""
    return 'must be a list of names of tools, such as ["web_fetch"].'


def _of_timeout(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if is_number and 0 < value <= MAX_TIMEOUT_S else f"must be at most {MAX_TIMEOUT_S:g} seconds."


KEYS: Final = MappingProxyType[str, Callable[[Any], str]](
    {
        "name": _of_name,
        "description": _of_description,
        "parameters": _schema_error,
        "files": _of_files,
        "network": _of_network,
        "processes": _of_processes,
        "modules": _of_modules,
        "needs": _of_needs,
        "timeout_s": _of_timeout,
    }
)
