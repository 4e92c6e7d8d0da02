"""Disks that fail under a running agent: the session says so, the process survives, and it works again afterwards."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.agent_process import agent_environment
from tests.e2e.raw_editor import editor, prompt_params
from tests.model_server import Reply, Rule, Script, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="preloads a library"),
]


@pytest.fixture(scope="module")
def failing_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library, built from its source."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = tmp_path_factory.mktemp("shim") / "failing_disk.so"
    source = Path(__file__).with_name("failing_disk.c")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True, timeout=60
    )
    return library


@pytest.mark.parametrize(
    ("deed", "number", "words"),
    [
        ("write", errno.ENOSPC, "disk is full"),
        ("write", errno.EIO, "Input/output error"),
        ("sync", errno.EIO, "Input/output error"),
    ],
)
async def test_a_failing_disk_ends_only_the_turn_and_loses_nothing_that_was_shown(
    tmp_path: Path, failing_disk: Path, deed: str, number: int, words: str
) -> None:
    home, workspace, order = tmp_path / "home", tmp_path / "workspace", tmp_path / "order"
    home.mkdir()
    workspace.mkdir()
    rule = Rule("hello", (Reply("Hello back, word by word. ", deltas=8),), pick="cycle")
    faults = {"LD_PRELOAD": str(failing_disk), "FAILING_FOLDER": str(home), "FAILING_ORDER": str(order)}
    async with (
        serve(Script(rules=[rule])) as server,
        editor(agent_environment(home, server, **faults), tmp_path) as one,
    ):
        session_id = await one.open_session(workspace)
        assert (await one.prompt(session_id, "hello"))["result"] == {"stopReason": "end_turn"}
        order.write_text(f"{deed} {number}\n")
        for _ in range(2):
            failed = await one.call("session/prompt", prompt_params(session_id, "hello"))
            assert failed["error"]["data"]["code"] == "storage_trouble"
            assert words in failed["error"]["message"]
            assert "Until it is opened again" in failed["error"]["message"]
        assert "error" in await one.call("session/new", {"cwd": "relative", "mcpServers": []})
        shown = one.said()
        order.unlink()
        reopening: dict[str, object] = {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
        assert "result" in await one.call("session/load", reopening)
        assert one.said().startswith(shown * 2), "what was shown is shown again"
        assert (await one.prompt(session_id, "hello"))["result"] == {"stopReason": "end_turn"}
        listed = (await one.call("session/list", {}))["result"]["sessions"]
        assert [each["sessionId"] for each in listed] == [session_id]
        assert await one.leave() == 0
        assert "Traceback" not in one.errors
