"""The LSP frontend in Neovim and Emacs, each with the small configuration file that users get."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S, Finished, agent_environment
from tests.model_server import Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

HERE = Path(__file__).parent
CLIENTS = HERE.parent.parent / "editor-clients"
SAVED = "def area(w, h):\n    return w + h\n"
REPLIES = [
    Reply(tool_calls=(ToolCall("read_file", {"path": "shape.py"}),)),
    Reply(
        tool_calls=(ToolCall("edit_file", {"path": "shape.py", "old_text": "w + h", "new_text": "w * h"}),)
    ),
    Reply("An area is a product."),
]


def program(name: str, *, is_required: bool) -> str:
    """Return the path of an editor, beside this Python's programs or on the PATH; skip the test if there is none."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if not found:
        (pytest.fail if is_required else pytest.skip)(f"{name} is not installed; see tests/install.sh")
    return str(found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    (folder / ".git").mkdir(parents=True)
    (folder / "shape.py").write_text(SAVED)
    return folder


async def run_editor(command: list[str], environment: dict[str, str], cwd: Path) -> Finished:
    with anyio.fail_after(2 * WAIT_S):
        done = await anyio.run_process(command, input=b"", check=False, cwd=cwd, env=environment)
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("way", ["menu", "command"])
async def test_neovim_applies_an_edit_that_its_user_confirms(
    tmp_path: Path, project: Path, way: str, require_all: bool
) -> None:
    nvim = program("nvim", is_required=require_all)
    report = tmp_path / "report.json"
    async with serve(REPLIES) as server:
        more = {"HERMES_ACP": COMMAND, "REPORT": str(report), "CLIENTS": str(CLIENTS / "neovim"), "WAY": way}
        environment = agent_environment(tmp_path, server, **more)
        driver = str(HERE / "lsp_neovim.lua")
        done = await run_editor(
            [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {driver}"],
            environment,
            project,
        )
    assert report.exists(), done
    seen: dict[str, Any] = json.loads(report.read_text())
    assert seen.get("failure") is None, seen
    assert seen["text"] == ["# not saved", "def area(w, h):", "    return w * h"]
    assert [each["titles"] for each in seen["questions"]][-1] == ["Apply", "Discard", "Show the diff"]
    assert (seen["progress"][0], seen["progress"][-1]) == ("begin", "end")
    assert (project / "shape.py").read_text() == SAVED
    assert "# not saved" in server.requests[1].asked.last_text
    if way == "command":
        assert "multiply instead" in str(server.requests[0].body)


async def test_emacs_applies_an_edit_that_its_user_confirms(
    tmp_path: Path, project: Path, require_all: bool
) -> None:
    emacs = program("emacs", is_required=require_all)
    report = tmp_path / "report.el"
    async with serve(REPLIES) as server:
        more = {"HERMES_ACP": COMMAND, "REPORT": str(report), "CLIENTS": str(CLIENTS / "emacs")}
        environment = agent_environment(tmp_path, server, **more)
        driver = str(HERE / "lsp_emacs.el")
        done = await run_editor([emacs, "--batch", "-l", driver], environment, project)
    assert report.exists(), done
    seen = report.read_text()
    assert "return w * h" in seen, (seen, done)
    assert "# not saved" in seen
    assert "Apply" in seen
    assert (project / "shape.py").read_text() == SAVED
