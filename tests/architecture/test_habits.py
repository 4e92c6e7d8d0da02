"""Habits that the house depends on, read off the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import name_of, python_files, tree_of

SOURCES = python_files("hermes_acp", "protocol")
CATCHES_EVERYTHING = frozenset(
    {
        "protocol/hermes_protocol/connection.py",
        "hermes_acp/agent/tool_calls.py",
    }
)
READS_ENVIRONMENT = frozenset({"hermes_acp/config/environment.py"})
MAY_PRINT = ("hermes_acp/faces/cli/", "protocol/generate.py", "protocol/generator/")


def calls(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_everything_is_caught_only_at_the_boundaries(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            broad = caught in ("everything", "Exception")
            assert not broad or name_of(path) in CATCHES_EVERYTHING, f"line {node.lineno}"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_ambient_state(path: Path) -> None:
    used = {ast.unparse(node) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)}
    assert "os.getcwd" not in used
    assert "Path.cwd" not in used
    if name_of(path) not in READS_ENVIRONMENT:
        assert not used & {"os.environ", "os.environb"}
        assert "os.getenv" not in set(calls(path))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_mutable_module_values(path: Path) -> None:
    for node in tree_of(path).body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        names = {ast.unparse(t) for t in node.targets} if isinstance(node, ast.Assign) else set[str]()
        if names <= {"__all__"} and names:
            continue
        assert not isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp), (
            ast.unparse(node)
        )


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_print_belongs_to_the_command_line(path: Path) -> None:
    if not name_of(path).startswith(MAY_PRINT):
        assert "print" not in set(calls(path))


@pytest.mark.parametrize("path", python_files(), ids=name_of)
def test_anyio_and_real_parts_only(path: Path) -> None:
    imported = set(imports(path))
    assert "asyncio" not in imported
    assert "unittest.mock" not in imported
    if name_of(path).startswith("tests/") and path != Path(__file__):
        assert "time.sleep" not in set(calls(path))


@pytest.mark.parametrize("path", [p for p in SOURCES if "/generator/" not in name_of(p)], ids=name_of)
def test_modules_say_what_they_are(path: Path) -> None:
    assert ast.get_docstring(tree_of(path)), "a module begins with a line of purpose"
