"""Each frontend has its messages for people in its `messages` module, where they are read and changed together."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, name_of, nodes_of, python_files, tree_of

FRONTENDS = ("acp", "chat", "cli", "command_line", "gateway", "hub", "library", "lsp", "web")
SENTENCE = re.compile(r"[^\W\d_]{2,}[.,:;]? +[^\W\d_]{2,}")
STYLE = re.compile(r"((bold|dim|italic|underline|noreverse|cyan|yellow|default|ansi\w+|bg:default) ?)+")
"""Style names of rich and prompt_toolkit."""
ALLOWED = frozenset(
    {
        *(
            f"hermes-acp {command}"
            for command in ("chat", "daemon", "gateway", "hub", "lsp", "scan", "serve", "service", "status")
        ),
        *("GET, POST, DELETE, OPTIONS", "authorization, content-type, ", 'Bearer realm="hermes-acp"'),
        '<link rel="sign-in" href="',
        '<link rel="sign-out" href="',
        "public, max-age=31536000, immutable",
        *(
            "Application Support",
            "\\ No newline at end of file\n",
            "new file mode 100644\n",
            "deleted file mode 100644\n",
        ),
    }
)
"""Names of commands and folders, HTTP headers, and lines of git's patch format."""
FOR_THE_MODEL = frozenset({"model_text", "actions"})
"""Modules and plugin folders with texts for the model."""


def wording(path: Path) -> Iterator[str]:
    """Yield texts of several words in a module, except docstrings, bare strings, patterns, types and assertions."""
    left_out: set[int] = set()
    for node in nodes_of(path):
        is_bare = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if is_bare or isinstance(node, ast.Assert) or called == "cast" or called.startswith("re."):
            left_out |= {id(part) for part in ast.walk(node)}
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(annotation, ast.AST):
            left_out |= {id(part) for part in ast.walk(annotation)}
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            text = node.value
            if SENTENCE.search(text) and not STYLE.fullmatch(text.strip()) and text not in ALLOWED:
                yield f"{name_of(path)}:{node.lineno}: {text!r}"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_sentences_are_in_the_messages_module(frontend: str) -> None:
    folder = ROOT / "hermes_acp" / "frontends" / frontend
    modules = [path for path in python_files("hermes_acp") if path.is_relative_to(folder)]
    assert modules
    ours = [path for path in modules if not {"messages", *FOR_THE_MODEL} & {path.stem, path.parent.name}]
    assert [text for path in ours for text in wording(path)] == []


def test_every_message_is_used() -> None:
    defined: dict[str, str] = {}
    used: set[str] = set()
    for path in python_files("hermes_acp"):
        for node in nodes_of(path):
            if isinstance(node, ast.Attribute):
                used.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used.add(node.id)
        if "messages" in (path.stem, path.parent.name):
            for statement in tree_of(path).body:
                for name in names_defined(statement):
                    defined[name] = name_of(path)
    assert {name: module for name, module in defined.items() if name not in used} == {}


def names_defined(statement: ast.stmt) -> list[str]:
    """Return the public names that a module-level statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        names = [statement.name]
    elif isinstance(statement, ast.Assign):
        names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        names = [statement.target.id]
    else:
        names = []
    return [name for name in names if not name.startswith("_")]
