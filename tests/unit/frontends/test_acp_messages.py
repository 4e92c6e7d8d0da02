"""Every text that the ACP frontend shows to people, in one file to be read: tests/golden/messages/acp.txt.

To update the file after a change: .venv/bin/python tests/unit/frontends/test_acp_messages.py
"""

import ast
import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import cast

import hermes_acp.frontends.acp.messages as package

FRONTEND = Path(package.__path__[0]).parent
SNAPSHOT = Path(__file__).parents[2] / "golden" / "messages" / "acp.txt"


class Placeholder(str):
    """An argument that shows as {its name}, in whatever format."""

    __slots__ = ()

    def __format__(self, format_spec: str) -> str:
        return str(self)


def listing() -> str:
    """Return the text of the snapshot."""
    parts: list[str] = []
    for module in sorted(each.name for each in iter_modules(package.__path__)):
        lines = "\n".join(lines_of(f"{package.__name__}.{module}"))
        parts.append(f"## {module}\n{lines}\n")
    return "\n".join(parts)


def lines_of(module_name: str) -> Iterator[str]:
    module = import_module(module_name)
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module_name:
            placeholders = [Placeholder(f"{{{each}}}") for each in inspect.signature(value).parameters]
            yield f"{name}: {value(*placeholders)}"
        elif name.isupper():
            yield from constant(name, value)


def constant(name: str, value: object) -> Iterator[str]:
    match value:
        case str():
            yield f"{name}: {value.replace(chr(10), chr(92) + 'n')}"
        case tuple():
            yield f"{name}: {' | '.join(filter(None, cast('tuple[str, ...]', value)))}"
        case Mapping():
            for key, each in cast("Mapping[str, object]", value).items():
                yield from constant(f"{name}[{key}]", each)
        case _:
            return


def test_the_texts_are_those_that_were_reviewed() -> None:
    assert listing() == SNAPSHOT.read_text(encoding="utf-8"), f"read it, then run {__file__}"


def test_no_error_brings_a_text_of_its_own() -> None:
    found = [
        f"{path.name}:{node.lineno}"
        for path in FRONTEND.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        for text in (*node.exc.args, *(each.value for each in node.exc.keywords))
        if isinstance(text, ast.JoinedStr | ast.Constant) and " " in ast.unparse(text)
    ]
    assert found == []


if __name__ == "__main__":
    SNAPSHOT.write_text(listing(), encoding="utf-8")
