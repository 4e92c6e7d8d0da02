"""Find the modules that a tool file imports and check them against its declaration.

The sandbox enforces the declaration; this check warns the author early.
"""

import ast
import sys
from collections.abc import Collection, Iterator
from typing import Final

from hermes_acp.tools.custom.tool_declaration import ToolFileError

OWN: Final = frozenset({"hermes_acp", "hermes_protocol"})
FOR_NETWORK: Final = frozenset(
    {
        "ftplib", "http.client", "http.server", "imaplib", "nntplib", "poplib", "smtplib", "socket", "socketserver",
        "ssl", "telnetlib", "urllib.request", "xmlrpc.client", "xmlrpc.server",
    }
)  # fmt: skip
FOR_PROCESSES: Final = frozenset({"multiprocessing", "pty", "subprocess"})


def imports_of(tree: ast.Module) -> tuple[tuple[int, str], ...]:
    """Return every module imported anywhere in a file, with its line; for `from a import b`, both `a` and `a.b`."""
    return tuple(dict.fromkeys(_imports(tree)))


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield node.lineno, module
            if not node.level:
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def faults_in_imports(
    imports: Collection[tuple[int, str]],
    *,
    modules: Collection[object],
    has_network: bool,
    has_processes: bool,
) -> Iterator[ToolFileError]:
    """Yield an error for each import that is unavailable or cannot work; at most one per line and module."""
    told: set[tuple[int, str]] = set()
    for line, name in imports:
        top = name.partition(".")[0]
        words = _refusal(name, top, modules, has_network=has_network, has_processes=has_processes)
        if words and (line, top) not in told:
            told.add((line, top))
            yield ToolFileError(line, words)


def _refusal(
    name: str, top: str, modules: Collection[object], *, has_network: bool, has_processes: bool
) -> str:
    if name.startswith("."):
        return "a tool is a single file, so it cannot import from files next to it."
    if top in OWN:
        return f"{top} is not available to tools; use the standard library."
    if top not in sys.stdlib_module_names:
        if top in modules:
            return ""
        return f'{top} is not in the standard library: declare it with "modules": ["{top}"], or avoid it.'
    if not has_network and _is_among(name, FOR_NETWORK):
        return f'{name} needs the network, which is not declared: add "network": ["the.host"].'
    if not has_processes and _is_among(name, FOR_PROCESSES):
        return f'{name} starts programs, which is not declared: add "processes": True.'
    return ""


def _is_among(name: str, modules: frozenset[str]) -> bool:
    return name in modules or any(name.startswith(f"{each}.") for each in modules)
