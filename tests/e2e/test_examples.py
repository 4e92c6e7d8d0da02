"""Every example runs, against a scripted model server."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from tests.architecture.sources import ROOT
from tests.model_server import Fault, Reply, ToolCall, serve

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
MAX_RUN_S = 60
READ = ToolCall("read_file", {"path": "a.py"})
EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})
COMMAND = ToolCall("terminal", {"command": "sh -c true"})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    return folder


async def run(
    command: list[str],
    project: Path,
    model_url: str,
    *,
    stdin: bytes = b"",
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run an example with `hermes-acp` on the path and the given model server."""
    home = project.parent / "home"
    home.mkdir(exist_ok=True)
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "OPENAI_BASE_URL": model_url,
        "OPENAI_API_KEY": "sk-test",
        "HERMES_MODEL": "m",
        **(variables or {}),
    }
    with anyio.fail_after(MAX_RUN_S):
        return await anyio.run_process(command, input=stdin, env=environment, cwd=project, check=False)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("replies", "variables", "code", "words"),
    [
        ([Reply(tool_calls=(READ, EDIT)), Reply("Done.")], {}, 0, "agent: done"),
        ([Reply(tool_calls=(COMMAND,)), Reply("Done.")], {}, 5, "approval that nobody could give"),
        ([Reply(tool_calls=(COMMAND,)), Reply("Done.")], {"MODE": "auto"}, 0, "agent: done"),
        ([Reply(tool_calls=(READ, EDIT))] * 3, {"MAX_STEPS": "1"}, 1, "failed or gave up"),
        ([Reply(fault=Fault(status=401))], {}, 3, "the model or the network failed"),
        ([Reply("Done.")], {"MODE": "nonsense"}, 2, "wrong usage"),
    ],
)
async def test_the_shell_recipe_exits_like_the_agent(
    project: Path, replies: list[Reply], variables: dict[str, str], code: int, words: str
) -> None:
    (project.parent / "task.md").write_text("Set x to 5.")
    async with serve(replies) as server:
        command = [str(EXAMPLES / "ci" / "run.sh"), "../task.md", "."]
        done = await run(command, project, server.openai_base_url, variables=variables)
    assert done.returncode == code, done.stderr.decode()
    assert words in done.stdout.decode()


@pytest.mark.anyio
async def test_the_shell_recipe_stores_the_events(project: Path) -> None:
    (project.parent / "task.md").write_text("Set x to 5.")
    async with serve([Reply(tool_calls=(READ, EDIT)), Reply("Done.")]) as server:
        await run([str(EXAMPLES / "ci" / "run.sh"), "../task.md", "."], project, server.openai_base_url)
    events = [json.loads(line) for line in (project / "hermes-events.jsonl").read_text().splitlines()]
    assert events[-1]["type"] == "result"
    assert (project / "a.py").read_text() == "x = 5\n"


@pytest.mark.anyio
async def test_the_workflow_runs_its_steps(project: Path) -> None:
    workflow: dict[str, Any] = yaml.safe_load((EXAMPLES / "ci" / "github-actions.yml").read_text())
    steps = {step["name"]: step for step in workflow["jobs"]["agent"]["steps"] if "run" in step}
    assert list(steps) == ["Install", "Run the agent", "Keep what changed"]
    assert steps["Install"]["run"] == 'python3 -m pip install "$HERMES_ACP"'
    temporary = project.parent / "runner"
    temporary.mkdir()
    variables = {"RUNNER_TEMP": str(temporary), "PROMPT": "Set x to 5."}
    subprocess.run(["git", "init", "-q"], cwd=project, check=True, timeout=MAX_RUN_S)
    subprocess.run(["git", "add", "-A"], cwd=project, check=True, timeout=MAX_RUN_S)
    async with serve([Reply(tool_calls=(READ, EDIT)), Reply("Done.")]) as server:
        for name in ("Run the agent", "Keep what changed"):
            command = ["bash", "-eo", "pipefail", "-c", steps[name]["run"]]
            done = await run(command, project, server.openai_base_url, variables=variables)
            assert done.returncode == 0, done.stderr.decode()
    assert "+x = 5" in (temporary / "agent.diff").read_text()
    assert json.loads((temporary / "events.jsonl").read_text().splitlines()[-1])["exit_code"] == 0


@pytest.mark.anyio
async def test_the_workflow_fails_if_the_agent_does(project: Path) -> None:
    workflow: dict[str, Any] = yaml.safe_load((EXAMPLES / "ci" / "github-actions.yml").read_text())
    steps = [
        step["run"] for step in workflow["jobs"]["agent"]["steps"] if step.get("name") == "Run the agent"
    ]
    variables = {"RUNNER_TEMP": str(project.parent), "PROMPT": "Run it."}
    async with serve([Reply(tool_calls=(COMMAND,)), Reply("Done.")]) as server:
        command = ["bash", "-eo", "pipefail", "-c", steps[0]]
        done = await run(command, project, server.openai_base_url, variables=variables)
    assert done.returncode == 5


@pytest.mark.anyio
async def test_the_headless_script_shows_text_and_changed_files(project: Path) -> None:
    async with serve([Reply("I set it. ", tool_calls=(READ, EDIT)), Reply("Done.")]) as server:
        command = [sys.executable, str(EXAMPLES / "headless.py"), ".", "Set", "x", "to", "5."]
        done = await run(command, project, server.openai_base_url)
    text = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert "I set it." in text
    assert f"[changed: {project / 'a.py'}]" in text
    assert "[done after 2 steps]" in text


@pytest.mark.anyio
@pytest.mark.parametrize(("answer", "expected"), [(b"1\n", "x = 5\n"), (b"\n", "x = 1\n"), (b"", "x = 1\n")])
async def test_the_synchronous_client_asks_the_user(project: Path, answer: bytes, expected: str) -> None:
    async with serve([Reply(tool_calls=(READ, EDIT)), Reply("Done.")]) as server:
        command = [sys.executable, str(EXAMPLES / "one_prompt.py"), str(project), "Set x to 5."]
        done = await run(command, project, server.openai_base_url, stdin=answer)
    text = done.stdout.decode()
    assert "Edit a.py?" in text, done.stderr.decode()
    assert (project / "a.py").read_text() == expected


@pytest.mark.anyio
@pytest.mark.parametrize(("answer", "expected"), [(b"y\n", "x = 5\n"), (b"not so high\n", "x = 1\n")])
async def test_the_asynchronous_client_asks_the_user_and_says_why(
    project: Path, answer: bytes, expected: str
) -> None:
    async with serve([Reply(tool_calls=(READ, EDIT)), Reply("Done.")]) as server:
        command = [sys.executable, str(EXAMPLES / "review.py"), str(project), "Set x to 5."]
        done = await run(command, project, server.openai_base_url, stdin=answer)
        said = str(server.requests[-1].body)
    assert done.returncode == 0, done.stderr.decode()
    assert (project / "a.py").read_text() == expected
    assert ("not so high" in said) == (expected == "x = 1\n")


@pytest.mark.anyio
async def test_the_synchronous_client_says_why_there_is_no_agent(project: Path) -> None:
    code = (
        "import sys\n"
        "from hermes_acp_client.blocking import BlockingAgent\n"
        "BlockingAgent([sys.executable, '-c', 'import sys; sys.exit(\"no such model\")'])\n"
    )
    done = await run([sys.executable, "-c", code], project, "http://127.0.0.1:9/v1")
    assert done.returncode == 1
    assert "AgentGone" in done.stderr.decode()
    assert "no such model" in done.stderr.decode()


@pytest.mark.parametrize("path", ["zed/settings.json", "vscode/settings.json", "jetbrains/acp.json"])
def test_the_sample_settings_are_json_and_start_the_server(path: str) -> None:
    settings = json.loads((ROOT / "editor-clients" / path).read_text())
    agents = settings.get("agent_servers") or settings["acp.agents"]
    assert Path(agents["Hermes"]["command"]).name == "hermes-acp"
    assert agents["Hermes"]["args"] == []


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["one_prompt.py", "review.py"])
async def test_examples_report_a_missing_model_in_one_line(name: str, project: Path) -> None:
    done = await run(
        [sys.executable, str(EXAMPLES / name), str(project), "Hello"],
        project,
        "",
        variables={"OPENAI_API_KEY": "", "HERMES_MODEL": ""},
    )
    assert done.returncode in (1, 2)
    (told,) = done.stderr.decode().splitlines()
    assert told.count("hermes-acp setup") == 1
