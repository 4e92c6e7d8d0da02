"""Limits that keep a file readable. There are no opt-outs: raising one is an edit of this test."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import GENERATED, name_of, python_files, tree_of

MOST_FILE_LINES = 400
MOST_FUNCTION_LINES = 60
MOST_PUBLIC_METHODS = 14
MOST_PARAMETERS = 8
FORBIDDEN_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "base"})

WRITTEN = [path for path in python_files() if name_of(path) not in GENERATED]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", WRITTEN, ids=name_of)
def test_file_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_FILE_LINES


@pytest.mark.parametrize("path", WRITTEN, ids=name_of)
def test_functions_are_short_and_take_few_parameters(path: Path) -> None:
    for function in functions(path):
        arguments = function.args
        count = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        assert lines <= MOST_FUNCTION_LINES, f"{function.name} has {lines} lines"
        assert count <= MOST_PARAMETERS, f"{function.name} takes {count} parameters"


@pytest.mark.parametrize("path", WRITTEN, ids=name_of)
def test_classes_are_small(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ClassDef):
            methods = [
                item.name
                for item in node.body
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and not item.name.startswith("_")
            ]
            assert len(methods) <= MOST_PUBLIC_METHODS, f"{node.name} has {len(methods)} public methods"


@pytest.mark.parametrize("path", python_files("hermes_acp", "protocol"), ids=name_of)
def test_names_say_something(path: Path) -> None:
    assert path.stem not in FORBIDDEN_NAMES
    for function in functions(path):
        assert not function.name.startswith("handle_"), function.name


@pytest.mark.parametrize("path", WRITTEN, ids=name_of)
def test_no_check_is_switched_off(path: Path) -> None:
    if path == Path(__file__):
        return
    text = path.read_text(encoding="utf-8")
    for marker in ("type: ignore", "pyright: ignore", "# noqa", "pragma: no cover"):
        assert marker not in text
