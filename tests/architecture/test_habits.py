"""Habits that the house depends on, read off the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.sources import name_of, nodes_of, python_files, tree_of

SOURCES = python_files("hermes_acp", "protocol")
CATCHES_EVERYTHING = frozenset(
    {
        "protocol/hermes_protocol/connection.py",
        "hermes_acp/agent/tool_calls.py",
        "hermes_acp/faces/lsp/tasks.py",
    }
)
READS_ENVIRONMENT = frozenset({"hermes_acp/config/environment.py"})
AMBIENT = frozenset({"os.getcwd", "Path.cwd", "os.environ", "os.environb", "os.getenv"})
MAY_PRINT = ("hermes_acp/faces/cli/", "protocol/generate.py", "protocol/generator/")
FORBIDDEN_IMPORTS = frozenset({"asyncio", "unittest.mock"})
MUTABLE = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp


def calls(path: Path) -> Iterator[tuple[int, str]]:
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield node.lineno, ast.unparse(node.func)


def names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def imports(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_everything_is_caught_only_at_the_boundaries() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        if name_of(path) not in CATCHES_EVERYTHING
        for node in nodes_of(path)
        if isinstance(node, ast.ExceptHandler) and (node.type is None or "Exception" in names(node.type))
    ]
    assert found == []


def test_no_ambient_state() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in AMBIENT
        if not (name_of(path) in READS_ENVIRONMENT and node.attr == "environ")
    ]
    assert found == []


def test_no_mutable_module_values() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        for node in tree_of(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, MUTABLE)
        if not (isinstance(node, ast.Assign) and [ast.unparse(name) for name in node.targets] == ["__all__"])
    ]
    assert found == []


def test_print_belongs_to_the_command_line() -> None:
    found = [
        f"{name_of(path)}:{line}"
        for path in SOURCES
        if not name_of(path).startswith(MAY_PRINT)
        for line, name in calls(path)
        if name == "print"
    ]
    assert found == []


def test_anyio_and_real_parts_only() -> None:
    assert {name_of(path) for path in python_files() if FORBIDDEN_IMPORTS & set(imports(path))} == set()


def test_only_the_lsp_face_knows_that_protocol() -> None:
    found = [
        f"{name_of(path)}: {module}"
        for path in SOURCES
        if not name_of(path).startswith("hermes_acp/faces/lsp/")
        for module in imports(path)
        if module.partition(".")[0] in ("pygls", "lsprotocol")
    ]
    assert found == []


def test_only_the_chat_draws_on_terminals() -> None:
    found = [
        f"{name_of(path)}: {module}"
        for path in SOURCES
        if not name_of(path).startswith("hermes_acp/faces/chat/")
        for module in imports(path)
        if module.partition(".")[0] in ("rich", "prompt_toolkit")
    ]
    assert found == []


def test_tests_wait_for_events_and_never_for_the_clock() -> None:
    found = [
        f"{name_of(path)}:{line}"
        for path in python_files("tests")
        for line, name in calls(path)
        if name == "time.sleep"
    ]
    assert found == []


def test_modules_say_what_they_are() -> None:
    written = [path for path in SOURCES if "/generator/" not in name_of(path)]
    assert [name_of(path) for path in written if not ast.get_docstring(tree_of(path))] == []
