"""What the command line says is in one place, where it is read as a whole."""

import ast
import re

from tests.architecture.sources import ROOT, name_of, python_files
from tests.golden.message_catalogue import FOLDER, catalogue

CLI = "hermes_acp.frontends.cli.messages"
GOLDEN = FOLDER / "cli.txt"
WORDS = re.compile(r"(?<!hermes-)\b[A-Za-z]{2,},? [a-z]{2,}")


def test_the_messages_of_the_command_line_are_as_reviewed() -> None:
    file = GOLDEN.relative_to(ROOT)
    assert catalogue(CLI) == GOLDEN.read_text(encoding="utf-8"), (
        f"Messages changed. Run `python -m tests.golden.message_catalogue {CLI} {file}` and review the diff."
    )


def test_no_other_module_of_the_command_line_has_sentences() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}: {node.value}"
        for path in python_files("hermes_acp/frontends/cli")
        if "messages" not in path.parts
        for node in texts_of(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node.value, str) and WORDS.search(node.value)
    ]
    assert found == []


def texts_of(module: ast.Module) -> list[ast.Constant]:
    """Return the literals of a module without its docstrings and annotations."""
    left_out = {
        id(inner)
        for node in ast.walk(module)
        for part in (
            *([node.value] if isinstance(node, ast.Expr) else []),
            *([node.annotation] if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation else []),
            *(
                [node.returns]
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns
                else []
            ),
        )
        if isinstance(part, ast.Constant)
        for inner in [part]
    }
    return [node for node in ast.walk(module) if isinstance(node, ast.Constant) and id(node) not in left_out]
