"""`editor-clients/check.py` as a user runs it, and the other files for editors in that folder."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.e2e.agent_process import COMMAND, Finished, run_command
from tests.model_server import Reply, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX"),
]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "editor-clients"
EDITORS = ["acpx", "emacs", "jetbrains", "jupyter", "marimo", "neovim", "toad", "vscode", "zed"]


async def check(place: Path, *arguments: str, command: str = COMMAND) -> Finished:
    """Run the check in an environment without any model settings."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(place)}
    return await run_command(
        "-I", "-c", RUN, "--command", command, *arguments,
        environment=environment, cwd=place, command=sys.executable,
    )  # fmt: skip


PATHS = f"import runpy, sys; sys.path.insert(0, {str(FOLDER)!r}); "
RUN = f"{PATHS}runpy.run_path({str(FOLDER / 'check.py')!r}, run_name='__main__')"
"""Isolated, so that the tests' own modules and what they can import are not available by accident."""


async def test_every_editor_gets_the_answers_in_its_transcript(tmp_path: Path) -> None:
    done = await check(tmp_path)
    assert done.code == 0, done.output + done.errors
    assert [line.split()[:2] for line in done.output.splitlines()] == [[name, "ok"] for name in EDITORS]
    assert list(tmp_path.iterdir()) == [], "a check must not touch the user's own home"


async def test_another_endpoint_can_be_given(tmp_path: Path) -> None:
    async with serve([Reply("It is 42."), Reply("It is 42.")]) as server:
        done = await check(tmp_path, "zed", "neovim", "--model-url", server.openai_base_url)
    assert done.code == 0, done.output + done.errors
    assert done.output.count("the turn ended normally") == 2


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("exec cat", "expected"),
        ("read line; exit 3", "received the end"),
        ("echo no frame; exec cat", "something that is not a frame"),
    ],
)
async def test_a_faulty_agent_is_reported(tmp_path: Path, script: str, complaint: str) -> None:
    fake = tmp_path / "hermes-acp"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o700)
    done = await check(tmp_path, "acpx", command=str(fake))
    assert done.code == 1, done.errors
    assert "FAILED" in done.output
    assert complaint in done.output


async def test_an_unknown_editor_is_rejected(tmp_path: Path) -> None:
    done = await check(tmp_path, "edlin")
    assert done.code == 1
    assert "There is no check for edlin; there are acpx, " in done.errors


def test_each_editor_has_a_document() -> None:
    assert sorted(path.parent.name for path in FOLDER.glob("*/check.jsonl")) == EDITORS
    for name in EDITORS:
        assert "check.py" in (FOLDER / name / "README.md").read_text(encoding="utf-8"), name


def test_the_icon_uses_the_themes_colour() -> None:
    icon = (FOLDER / "jupyter" / "icon.svg").read_text()
    assert 'width="16" height="16"' in icon
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', icon)) == {"none", "currentColor"}
    assert "style" not in icon
