"""Limits that keep files readable. There are no opt-outs: to raise a limit, edit this test."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.sources import GENERATED, name_of, nodes_of, python_files

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PUBLIC_METHODS = 14
MAX_PARAMETERS = 8
FORBIDDEN_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "base"})
SWITCHES = ("type: ignore", "pyright: ignore", "# noqa", "pragma: no cover")

Function = ast.FunctionDef | ast.AsyncFunctionDef
WRITTEN = [path for path in python_files() if name_of(path) not in GENERATED]


def functions(paths: list[Path] | tuple[Path, ...]) -> Iterator[tuple[str, Function]]:
    for path in paths:
        for node in nodes_of(path):
            if isinstance(node, Function):
                yield f"{name_of(path)}: {node.name}", node


def test_files_are_short() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in WRITTEN}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES} == {}


def test_functions_are_short() -> None:
    lengths = {name: (node.end_lineno or node.lineno) - node.lineno + 1 for name, node in functions(WRITTEN)}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def test_functions_take_few_parameters() -> None:
    counts = {
        name: len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
        for name, node in functions(WRITTEN)
    }
    assert {name: count for name, count in counts.items() if count > MAX_PARAMETERS} == {}


def test_classes_are_small() -> None:
    counts = {
        f"{name_of(path)}: {node.name}": len(
            [item for item in node.body if isinstance(item, Function) and not item.name.startswith("_")]
        )
        for path in WRITTEN
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef)
    }
    assert {name: count for name, count in counts.items() if count > MAX_PUBLIC_METHODS} == {}


def test_names_are_meaningful() -> None:
    sources = python_files("hermes_acp", "protocol")
    assert [name_of(path) for path in sources if path.stem in FORBIDDEN_NAMES] == []
    assert [name for name, node in functions(sources) if node.name.startswith("handle_")] == []


def test_no_check_is_disabled() -> None:
    found = {
        name_of(path): marker
        for path in WRITTEN
        if path != Path(__file__)
        for marker in SWITCHES
        if marker in path.read_text(encoding="utf-8")
    }
    assert found == {}
