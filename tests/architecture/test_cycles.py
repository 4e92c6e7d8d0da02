"""No module depends on itself through other modules; imports for annotations and inside functions count too."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.architecture.sources import ROOT, nodes_of, python_files

PACKAGES = {
    "hermes_acp": ROOT,
    "injection_scanner": ROOT / "scanner",
    "hermes_protocol": ROOT / "protocol",
    "hermes_acp_client": ROOT / "editor-clients/python",
}

Graph = Mapping[str, frozenset[str]]


def modules() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for package, folder in PACKAGES.items():
        for path in python_files(folder.relative_to(ROOT).parts[0] if folder != ROOT else package):
            if path.is_relative_to(folder / package):
                parts = path.relative_to(folder).with_suffix("").parts
                found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imported_names(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each imported name with its module; a module imported as a whole has no name."""
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def dependencies() -> Graph:
    known = modules()
    graph: dict[str, frozenset[str]] = {}
    for module, path in known.items():
        pairs = list(imported_names(path))
        targets = (f"{source}.{name}" if f"{source}.{name}" in known else source for source, name in pairs)
        graph[module] = frozenset(target for target in targets if target in known) - {module}
    return graph


def cycles(graph: Graph) -> frozenset[frozenset[str]]:
    """Return the strongly connected components with at least two modules (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: set[frozenset[str]] = set()

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in graph[module]:
            if target not in index:
                visit(target)
            if target in stack:
                low[module] = min(low[module], low[target])
        if low[module] == index[module]:
            start = stack.index(module)
            component = frozenset(stack[start:])
            del stack[start:]
            if len(component) > 1:
                found.add(component)

    for module in graph:
        if module not in index:
            visit(module)
    return frozenset(found)


def test_every_package_is_checked() -> None:
    assert {module.partition(".")[0] for module in modules()} == set(PACKAGES)


def test_a_cycle_is_found() -> None:
    graph = {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b"), "d": frozenset("a")}
    assert cycles(graph) == {frozenset("bc")}


def test_no_module_depends_on_itself() -> None:
    found = sorted(sorted(cycle) for cycle in cycles(dependencies()))
    assert found == []
