"""A tool file is parsed as text: what it declares, and every error with its line."""

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.tools.custom.argument_validation import validation_errors
from hermes_acp.tools.custom.tool_checker import KEYS, MAX_BYTES, bindings, check_tool_source
from hermes_acp.tools.custom.tool_declaration import CheckedToolFile, ToolDeclaration
from tests.architecture.sources import ROOT, tree_of

HEAD = 'TOOL = {"name": "probe", "description": "Probe."}\n'
GOOD = HEAD + 'def run(path: str = "."):\n    return path\n'
PIECES = st.sampled_from(
    ("TOOL", " = ", "{", "}", '"name"', ": ", '"probe"', "def run(", "):", "\n", "    ", "import ", "socket", "[", "]",
     "(", "*", "**", "|", "int", "Literal", ", ", "lambda", "async ", "\\", "'", '"', "\0", "\ud800", "é", "#", "f'{",
     "class ", "@", "del ", "Annotated", "-", "return", '"parameters"', '{"type": "object"}')
)  # fmt: skip


def declared(source: str) -> ToolDeclaration:
    checked = check_tool_source(source, "probe")
    assert checked.faults == ()
    assert checked.declaration is not None
    return checked.declaration


def faults(source: str, *taken: str) -> list[str]:
    return [fault.told("probe.py") for fault in check_tool_source(source, "probe", taken).faults]


def with_facts(**facts: Any) -> str:
    return f"TOOL = { ({'name': 'probe', 'description': 'Probe.'} | facts)!r}\ndef run(): pass\n"


def test_the_smallest_tool_only_reads_files() -> None:
    tool = declared(GOOD)
    assert (tool.name, tool.description, tool.files, tool.network, tool.processes) == (
        "probe",
        "Probe.",
        "read",
        (),
        False,
    )
    assert tool.capabilities == {"files"}
    assert tool.parameters == {
        "type": "object",
        "properties": {"path": {"type": "string", "default": "."}},
    }


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        ("int", {"type": "integer"}),
        ("list[str]", {"type": "array", "items": {"type": "string"}}),
        ("dict[str, float]", {"type": "object", "additionalProperties": {"type": "number"}}),
        ("Literal['a', 2]", {"enum": ["a", 2]}),
        ("str | None", {"type": "string"}),
        ("Optional[bool]", {"type": "boolean"}),
        ("int | str", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ("Annotated[int, 'how many']", {"type": "integer", "description": "how many"}),
        ("'list[int]'", {"type": "array", "items": {"type": "integer"}}),
        ("Any", {}),
    ],
)
def test_types_are_converted_to_a_schema(annotation: str, schema: object) -> None:
    tool = declared(f"{HEAD}def run(value: {annotation}): pass")
    assert tool.parameters == {"type": "object", "properties": {"value": schema}, "required": ["value"]}


def test_declared_parameters_must_match_the_function() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    text = f'TOOL = {{"name": "probe", "description": "Probe.", "parameters": {schema!r}}}\n'
    assert declared(text + "def run(path): pass").parameters == schema
    assert declared(text + "def run(**given): pass").parameters == schema
    assert faults(text + "def run(file): pass") == [
        "probe.py:2: run takes no path, which the declared parameters include.",
        "probe.py:2: run needs file, which the declared parameters do not require.",
    ]


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (GOOD.replace("str", "Path"), "probe.py:2: the type `Path` is not supported"),
        (GOOD.replace(": str", ""), "probe.py:2: the parameter path of run has no type"),
        (GOOD.replace("def run", "async def run"), "probe.py:2: run must be a plain function"),
        (GOOD.replace("def run", "def go"), "probe.py: there must be exactly one function `run`"),
        (GOOD + HEAD, "probe.py:4: there must be exactly one TOOL"),
        (GOOD + "    global TOOL; TOOL = 3\n", "probe.py:4: there must be exactly one TOOL"),
        ("def run(): pass", "probe.py: there must be exactly one TOOL"),
        (GOOD.replace('"probe"', '"other"'), "probe.py:1: the tool is named 'other', its file 'probe'"),
        (GOOD.replace('"Probe."', "str(1)"), "probe.py:1: `str(1)` is not a plain value"),
        (GOOD.replace(".\"}", '.", "rights": 1}'), "probe.py:1: TOOL has no 'rights'"),
        (GOOD.replace("= {", "= dict({").replace("}", "})"), "probe.py:1: TOOL must be a plain dict"),
        (with_facts(files="all"), 'probe.py:1: "files" must be'),
        (with_facts(network=["*.example.com"]), 'probe.py:1: "network" must be a list'),
        (with_facts(network=["localhost"]), 'probe.py:1: "network" must be a list'),
        (with_facts(processes=1), 'probe.py:1: "processes" must be True or False'),
        (with_facts(timeout_s=1e9), 'probe.py:1: "timeout_s" must be at most'),
        ("import socket\n" + GOOD, "probe.py:1: socket needs the network"),
        (GOOD + "    from os import path; import subprocess\n", "probe.py:4: subprocess starts programs"),
        ("import requests\n" + GOOD, "probe.py:1: requests is not in the standard library"),
        ("from hermes_acp import core\n" + GOOD, "probe.py:1: hermes_acp is not available to tools"),
        ("from . import other\n" + GOOD, "probe.py:1: a tool is a single file"),
        ("def run(:", "probe.py:1: not valid Python"),
        ("\0", "probe.py: not valid Python"),
        ("x = " + "-" * 50_000 + "1", "probe.py: it is nested too deeply"),
        ("#" * (MAX_BYTES + 1), "probe.py: a tool may have at most"),
    ],
)  # fmt: skip
def test_each_error_is_reported_with_its_line(source: str, fault: str) -> None:
    assert any(told.startswith(fault) for told in faults(source)), faults(source)


def test_a_tool_names_the_tools_it_needs() -> None:
    assert declared(with_facts(needs=["web_fetch", "mcp__db__query"])).needs == (
        "web_fetch",
        "mcp__db__query",
    )
    for wrong in ("web_fetch", [1], ["Web fetch"]):
        (told,) = faults(with_facts(needs=wrong))
        assert 'must be a list of names of tools, such as ["web_fetch"].' in told


def test_taken_names_and_undeclared_modules_are_errors() -> None:
    assert "belongs to another tool" in faults(GOOD, "probe")[0]
    as_a_servers = check_tool_source(GOOD.replace('"probe"', '"mcp__files__read"'), "mcp__files__read").faults
    assert "MCP servers" in str(as_a_servers[0]), as_a_servers
    source = with_facts(modules=["yaml"], network=["api.example.com"]) + "import yaml, socket\n"
    tool = declared(source)
    assert tool.abilities() == "reads the session's folders; connects to api.example.com; imports yaml"
    assert tool.capabilities == {"files", "network"}


@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
def test_any_text_can_be_parsed(text: str) -> None:
    for source in (text, GOOD + text, GOOD.replace('"."', text), GOOD.replace('"Probe."', text)):
        checked = check_tool_source(source, "probe")
        assert isinstance(checked, CheckedToolFile)
        assert (checked.declaration is None) == bool(checked.faults)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({}, ["arguments: 'n' is a required property"]),
        ({"n": "1"}, ["n: '1' is not of type 'integer'"]),
        ({"n": True}, ["n: True is not of type 'integer'"]),
        ({"n": 1, "m": 2}, ["arguments: Additional properties are not allowed ('m' was unexpected)"]),
        ({"n": 1, "many": [1, "x"]}, ["many[1]: 'x' is not of type 'integer'"]),
        ({"n": 1, "one": 3}, ["one: 3 is not one of ['a', 'b']"]),
        ({"n": 1, "many": [2], "one": "a"}, []),
    ],
)
def test_arguments_that_do_not_match_are_named(value: dict[str, Any], told: list[str]) -> None:
    source = HEAD + "def run(n: int, many: list[int] = [], one: Literal['a', 'b'] = 'a'): pass"
    assert validation_errors(value, declared(source).parameters) == told


def stating(rule: dict[str, Any]) -> str:
    """Return a tool file that states the schema of its one argument."""
    schema = {"type": "object", "properties": {"a": rule}, "required": ["a"]}
    return f'TOOL = {{"name": "probe", "description": "Probe.", "parameters": {schema!r}}}\ndef run(a): pass'


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"type": "weird"}, "properties.a.type: 'weird'"),
        ({"type": 5}, "properties.a.type: 5"),
        ({"enum": 3}, "properties.a.enum: 3"),
        ({"pattern": "("}, "properties.a.pattern: '('"),
    ],
)
def test_declared_parameters_must_be_a_valid_schema(rule: dict[str, Any], told: str) -> None:
    (fault,) = faults(stating(rule))
    assert fault.startswith('probe.py:1: "parameters" is not a valid JSON Schema'), fault
    assert told in fault, fault


@pytest.mark.parametrize(
    "rule",
    [
        {"$ref": "http://127.0.0.1:9/schema"},
        {"$dynamicRef": "http://127.0.0.1:9/schema"},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"pattern": "(x+x+)+y"},
        {"patternProperties": {"(x+x+)+y": False}, "additionalProperties": False},
        {"$ref": "http://127.0.0.1:9/schema", "unevaluatedProperties": False},
        {"$ref": "http://127.0.0.1:9/schema", "unevaluatedItems": False},
    ],
)
@pytest.mark.parametrize("value", ["x" * 40, {"x" * 40: 1}, ["x"]])
def test_references_and_patterns_of_a_tool_file_are_left_to_the_tool(
    rule: dict[str, Any], value: Any
) -> None:
    """The process fetches nothing for a tool file, and no pattern in one can stall it."""
    assert validation_errors({"a": value}, declared(stating(rule)).parameters) == []


def test_builtin_tools_are_readable_from_their_source_too() -> None:
    """Their schemas need their classes, so they are imported; but each states literally what it is and may do."""
    plugin_folder: PluginFolder[Tool] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    for name in plugin_folder:
        tree = tree_of(ROOT / "hermes_acp/tools/builtin" / f"{name}.py")
        assert len(bindings(tree, "TOOL")) == 1, name
        stated = {
            target.id: node.value
            for tool in tree.body
            if isinstance(tool, ast.ClassDef)
            for node in tool.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        assert isinstance(stated["name"], ast.Constant)
        assert stated["name"].value == name
        match stated["tool_metadata"]:
            case ast.Call(func=ast.Name(id="ToolMetadata"), args=[], keywords=said):
                spelled = {each.arg: ast.unparse(each.value) for each in said}
            case other:
                raise AssertionError(f"{name} does not spell out its traits: {other}")
        capabilities = plugin_folder.open(name).tool_metadata.capabilities
        written = spelled.get("capabilities", "frozenset()").removeprefix("frozenset(").removesuffix(")")
        assert frozenset(ast.literal_eval(written or "()")) == capabilities, name


def test_the_documented_example_is_valid_and_its_table_complete() -> None:
    document = (ROOT / "docs" / "own-tools.md").read_text(encoding="utf-8")
    example = document.partition("```python\n")[2].partition("```")[0]
    checked = check_tool_source(example, "count_lines")
    assert checked.faults == ()
    assert checked.declaration
    assert checked.declaration.parameters["properties"] == {
        "folder": {"type": "string", "description": "below the session's folder", "default": "."},
        "at_least": {"type": "integer", "default": 1},
    }
    rows = [line.split("`")[1] for line in document.splitlines() if line.startswith("| `")]
    assert rows[: len(KEYS)] == list(KEYS)
