"""The composition root only connects parts: it is small, has no state, and is hardly called during a turn."""

import ast
import subprocess
import sys
from collections.abc import Iterator

from tests.architecture.sources import ROOT, name_of, nodes_of, python_files

MAX_LINES = 700
MAX_CALLS = 5
CONTAINERS = frozenset(
    {"Counter", "Lock", "Event", "WeakKeyDictionary", "defaultdict", "deque", "dict", "list", "set"}
)
FILES = [path for path in python_files("hermes_acp") if name_of(path).startswith("hermes_acp/app/")]
WARM_PROMPT = """
import sys, tempfile, threading
from pathlib import Path
import anyio
from tests.conversations.app_scene import Scene
from tests.conversations.scripted_provider import step
seen = []
def note(frame, event, _):
    if event == "call" and "/hermes_acp/app/" in frame.f_code.co_filename:
        seen.append(f"{frame.f_code.co_name}:{frame.f_code.co_firstlineno}")
async def converse():
    with tempfile.TemporaryDirectory() as place:
        scene = Scene(Path(place).resolve())
        scene.provider.plays(step("One."), step("Two."))
        async with scene.editor() as editor:
            session = await editor.new_session(scene.project)
            await editor.prompt(session)
            threading.setprofile(note)
            sys.setprofile(note)
            await editor.prompt(session)
            sys.setprofile(None)
            threading.setprofile(None)
anyio.run(converse)
print(" ".join(seen))
"""


def changes_of_attributes(function: ast.AST) -> Iterator[str]:
    """Yield the attributes of `self` that a function sets."""
    for node in ast.walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign | ast.AugAssign):
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                yield target.attr


def test_the_composition_root_is_small() -> None:
    assert FILES
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in FILES) <= MAX_LINES


def test_no_attribute_changes_after_construction() -> None:
    changed = {
        f"{name_of(path)}: {node.name}": [*changes_of_attributes(node)]
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__"
    }
    assert {name: attributes for name, attributes in changed.items() if attributes} == {}


def test_only_parts_are_stored_in_it() -> None:
    kept = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value
        if isinstance(node.value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
        or (
            isinstance(node.value, ast.Call) and ast.unparse(node.value.func).rpartition(".")[2] in CONTAINERS
        )
    ]
    assert kept == []


def test_a_turn_hardly_calls_it() -> None:
    command = [sys.executable, "-c", WARM_PROMPT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert len(done.stdout.split()) <= MAX_CALLS
