"""Run the real demo: what it claims really happens, and it reports failures."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from examples.demo.local_model import find_local_model
from tests.architecture.sources import ROOT
from tests.model_server import Reply, ToolCall, serve

pytestmark = pytest.mark.slow

MAX_RUN_S = 170
FIX = ToolCall(
    "edit_file",
    {
        "path": "rates.py",
        "old_text": "max(0, weight_g - INCLUDED_G) // STEP_G",
        "new_text": "-(-max(0, weight_g - INCLUDED_G) // STEP_G)",
    },
)
TEST_RUN = ToolCall("terminal", {"command": "python3 -m unittest"})


async def run_demo(home: Path, *flags: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run the demo with only PATH, HOME and the given variables."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", **variables}
    command = [sys.executable, str(ROOT / "examples" / "demo"), *flags]
    with anyio.fail_after(MAX_RUN_S):
        return await anyio.run_process(command, env=environment, cwd=home, check=False)


def shown(run: subprocess.CompletedProcess[bytes]) -> str:
    return run.stdout.decode() + run.stderr.decode()


@pytest.mark.anyio
async def test_the_recorded_demo_shows_the_main_feature_and_changes_neither_home_nor_sample(
    tmp_path: Path,
) -> None:
    sample = ROOT / "examples" / "sample_project" / "rates.py"
    before = sample.read_bytes()
    run = await run_demo(tmp_path, "--recorded")
    assert list(tmp_path.iterdir()) == []
    assert sample.read_bytes() == before
    text = shown(run)
    assert run.returncode == 0, text
    for part in (
        "RECORDING",
        "◐ Run the tests and read rates.py",
        "? Edit rates.py",
        "-    further_steps = max(0",
        "+    further_steps = -(-max(0",
        "● Edit rates.py  [completed]",
        "│ FAILED (failures=1)",
        "│ OK",
        "✓ the tests pass when the demo runs them itself",
        "✓ session/list names the session",
        "✓ session/load replays the answer and the cards",
    ):
        assert part in text
    assert "NOT TRUE" not in text
    assert "\x1b[" not in text
    first_screen = "\n".join(text.splitlines()[:24])
    assert "a coding agent" in first_screen
    assert "Run python3 -m unittest" in first_screen
    assert "501," not in text.replace("501 g", ""), (
        "requests that the recording's server cannot answer are not the demo's"
    )


@pytest.mark.anyio
async def test_colours_on_request(tmp_path: Path) -> None:
    run = await run_demo(tmp_path, "--recorded", "--colour")
    assert b"\x1b[32m+    further_steps" not in run.stdout
    assert b"\x1b[32m    +    further_steps" in run.stdout


@pytest.mark.anyio
async def test_a_configured_model_is_used_from_a_copy_of_the_settings(tmp_path: Path) -> None:
    never = tmp_path / "never"
    replies = [
        Reply(tool_calls=(ToolCall("read_file", {"path": "rates.py"}),)),
        Reply(text="I fix it.", tool_calls=(FIX,)),
        Reply(tool_calls=(TEST_RUN,)),
        Reply(tool_calls=(ToolCall("terminal", {"command": f"python3 -m unittest; touch {never}"}),)),
        Reply(text="Done."),
    ]
    async with serve(replies) as server:
        home = tmp_path / ".hermes"
        home.mkdir()
        url = server.openai_base_url
        (home / "config.yaml").write_text(
            "provider: openai_compatible\nmodel: m\nmode: accept_edits\n"
            f"providers:\n  openai_compatible: {{base_url: '{url}'}}\n"
        )
        run = await run_demo(tmp_path)
    text = shown(run)
    assert run.returncode == 0, text
    assert f"m at {url} (configured)" in text
    assert "RECORDING" not in text
    assert "→ Reject  (the demo allows edits and test runs, and nothing else)" in text
    assert not never.exists()
    assert [path.name for path in home.iterdir()] == ["config.yaml"]


@pytest.mark.anyio
async def test_a_model_that_does_not_do_the_task_fails_the_demo(tmp_path: Path) -> None:
    async with serve([Reply(text="All tests pass now.")]) as server:
        run = await run_demo(tmp_path, OPENAI_BASE_URL=server.openai_base_url, HERMES_MODEL="m")
    text = shown(run)
    assert run.returncode == 1, text
    assert "✗ NOT TRUE: rates.py was changed on disk" in text


@pytest.mark.anyio
async def test_an_invalid_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "config.yaml").write_text("modle: x\n")
    run = await run_demo(tmp_path)
    assert run.returncode == 2
    assert "modle" in run.stderr.decode()


@pytest.mark.anyio
async def test_without_a_model_the_recording_is_offered_first_and_the_embedded_one_is_limited(
    tmp_path: Path, require_all: bool
) -> None:
    if find_local_model() is None:
        assert not require_all, "the local model is not installed"
        pytest.skip("the local model is not installed")
    run = await run_demo(tmp_path)
    text = shown(run)
    assert run.returncode == 0, text
    assert text.index("✓ the tests pass when the demo runs them itself") < text.index("tiny")
    assert len(text[text.index("tiny") :].splitlines()) < 20
    assert "✓ the embedded model streamed an answer, piece by piece" in text
    assert "RECORDING" in text
