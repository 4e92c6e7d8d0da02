"""The project's own source files, parsed once."""

import ast
import gc
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("hermes_acp", "protocol", "scanner", "editor-clients", "tests", "bench", "examples")
GENERATED = frozenset(
    f"protocol/hermes_protocol/{name}.py" for name in ("v1", "methods", "v2", "v2_methods", "own")
)


@cache
def python_files(*packages: str) -> tuple[Path, ...]:
    """List the Python files below the given top folders, or below all of them."""
    found = (path for package in packages or PACKAGES for path in (ROOT / package).rglob("*.py"))
    return tuple(sorted(path for path in found if "node_modules" not in path.parts))


@cache
def _trees() -> dict[Path, ast.Module]:
    """Parse every file, with garbage collection off: it would traverse a million nodes again and again."""
    gc.disable()
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in python_files()}
    finally:
        gc.freeze()
        gc.enable()


def tree_of(path: Path) -> ast.Module:
    return _trees()[path]


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
