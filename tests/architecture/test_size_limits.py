"""Limits on the size of structs, classes and folders.

Existing exceptions are listed with their sizes. The lists may only shrink: nothing may grow, and an entry that is no
longer needed must be removed.
"""

import ast
from collections import Counter
from collections.abc import Mapping
from typing import Final

from tests.architecture.sources import GENERATED, name_of, nodes_of, python_files

MAX_FIELDS: Final = 12
MAX_METHODS: Final = 20
MAX_MODULES: Final = 20
STRUCTS: Final = frozenset({"Struct", "NamedTuple", "TypedDict", "BaseModel", "Section"})
STORED_EVENTS: Final = {
    # One line of the record; its fields are the stored format, which older records also use.
    "hermes_acp/core/events.py: CallEnded": 14,
    # What engines store for a run; fields without a value are omitted.
    "hermes_acp/core/ports/run_ports.py: RunOrder": 15,
}
LARGE_STRUCTS: Final = {
    "hermes_acp/config/provider_presets.py: Preset": 15,
    "hermes_acp/config/settings.py: Settings": 23,
    "hermes_acp/policy/shell/command_step.py: Step": 16,
    "hermes_acp/policy/shell/program_tables.py: ProgramSpec": 32,
    "hermes_acp/policy/shell/program_tables.py: ProgramTables": 14,
}
LARGE_CLASSES: Final = {
    "hermes_acp/mcp/server_connection.py: ServerConnection": 29,
    "hermes_acp/sessions/session.py: Session": 24,
    "hermes_acp/storage/checkpoints/shadow_repository.py: Shadow": 22,
    "hermes_acp/web/browser/browser_driver.py: Driver": 23,
    "hermes_acp/workspaces/sandbox/command_sandbox.py: Sandbox": 29,
    "protocol/hermes_protocol/connection.py: Connection": 23,
}
PLUGIN_FOLDERS: Final = frozenset(
    {
        "hermes_acp/frontends/acp/own_methods",
        "hermes_acp/frontends/acp/v1/methods",
        "hermes_acp/frontends/acp/v2/methods",
        "hermes_acp/frontends/chat/commands",
        "hermes_acp/tools/builtin",
    }
)
"""Folders with one file per plugin: they grow with the product's features."""
SOURCES = tuple(
    path
    for path in python_files("hermes_acp", "scanner", "protocol", "editor-clients")
    if name_of(path) not in GENERATED
)


def classes() -> list[tuple[str, ast.ClassDef]]:
    return [
        (f"{name_of(path)}: {node.name}", node)
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef)
    ]


def is_struct(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
    decorators = {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in node.decorator_list}
    return bool(bases & STRUCTS) or "dataclass" in decorators


def number_of_fields(node: ast.ClassDef) -> int:
    annotations = [ast.unparse(item.annotation) for item in node.body if isinstance(item, ast.AnnAssign)]
    return sum("ClassVar" not in annotation for annotation in annotations)


def number_of_methods(node: ast.ClassDef) -> int:
    return sum(isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) for item in node.body)


def grown(sizes: Mapping[str, int], limit: int, exceptions: Mapping[str, int]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if size > exceptions.get(name, limit)}


def outdated(sizes: Mapping[str, int], limit: int, exceptions: Mapping[str, int]) -> list[str]:
    return [name for name in exceptions if sizes.get(name, 0) <= limit]


def test_structs_have_few_fields() -> None:
    sizes = {name: number_of_fields(node) for name, node in classes() if is_struct(node)}
    exceptions = STORED_EVENTS | LARGE_STRUCTS
    assert grown(sizes, MAX_FIELDS, exceptions) == {}
    assert outdated(sizes, MAX_FIELDS, exceptions) == []


def test_classes_have_few_methods() -> None:
    sizes = {name: number_of_methods(node) for name, node in classes()}
    assert grown(sizes, MAX_METHODS, LARGE_CLASSES) == {}
    assert outdated(sizes, MAX_METHODS, LARGE_CLASSES) == []


def test_folders_have_few_modules() -> None:
    folders = Counter(name_of(path.parent) for path in SOURCES if path.name != "__init__.py")
    assert {
        name: size for name, size in folders.items() if size > MAX_MODULES and name not in PLUGIN_FOLDERS
    } == {}
