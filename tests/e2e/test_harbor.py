"""Harbor's own runner for ACP agents, with the model that it was told to use.

In a benchmark, Harbor runs this runner in the task's container, with these variables and this launcher.
"""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from hermes_acp import __version__
from tests.architecture.sources import ROOT
from tests.e2e.agent_process import COMMAND, agent_environment, run_command
from tests.e2e.foreign_clients import AFTER, BEFORE, conversation
from tests.model_server import serve

HARBOR = Path(sys.prefix, "harbor")
RUNNER = HARBOR / "harbor" / "agents" / "installed" / "acp_runner.py"
RECORD = ROOT / "examples" / "harbor" / "agent.json"

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not RUNNER.is_file(), reason="needs Harbor: run tests/install.sh"),
]


def launcher(folder: Path) -> Path:
    """Write the script with which Harbor starts an installed agent."""
    local = json.loads(RECORD.read_text())["distribution"]["local"]
    assert local["cmd"] == Path(COMMAND).name
    script = folder / "acp-launch.sh"
    command = shlex.join([COMMAND, *local.get("args", [])])
    script.write_text(f'#!/usr/bin/env sh\nset -eu\nexec {command} "$@"\n')
    script.chmod(0o755)
    return script


async def run_harbor(
    tmp_path: Path, model: str, instruction: str, permissions: str, **variables: str
) -> dict[str, Any]:
    workspace, logs = tmp_path / "workspace", tmp_path / "logs"
    workspace.mkdir()
    (workspace / "a.py").write_text(BEFORE)
    async with serve(conversation()) as server:
        environment = agent_environment(
            tmp_path,
            server,
            ACP_RUNNER_MCP_SERVERS_JSON="[]",
            ACP_RUNNER_PERMISSION_MODE=permissions,
            ACP_RUNNER_AUTH_POLICY="auto",
            ACP_RUNNER_AGENT_ID="hermes-acp",
            ACP_RUNNER_AGENT_VERSION=__version__,
            ACP_RUNNER_REQUESTED_MODEL=model,
            **variables,
        )
        done = await run_command(
            str(shutil.copy(RUNNER, tmp_path)),  # As Harbor uploads it: alone.
            f"--instruction={instruction}",
            f"--logs-dir={logs}",
            f"--launcher={launcher(tmp_path)}",
            environment=environment,
            cwd=workspace,
            command=sys.executable,
        )
        asked = [each.body["model"] for each in server.requests]
    assert (logs / "acp-summary.json").is_file(), done.errors
    summary = json.loads((logs / "acp-summary.json").read_text())
    assert done.code == 0, (done.errors, summary.get("error"))
    return {**summary, "asked": set(asked)}


async def test_harbor_chooses_the_model_and_approves_everything(tmp_path: Path) -> None:
    summary = await run_harbor(tmp_path, "openai/scripted-large", "edit the file", "allow")
    assert summary["set_model_mechanism"] == "session_config_option"
    assert "set_model_error" not in summary
    assert summary["resolved_session_model_id"].endswith("scripted-large")
    options = {option["id"]: option for option in summary["session"]["configOptions"]}
    assert {"model", "effort"} <= options.keys()
    assert summary["asked"] == {"scripted-large"}
    assert summary["prompt_response"]["stopReason"] == "end_turn"
    assert (tmp_path / "workspace" / "a.py").read_text() == AFTER
    assert summary["permissions_requested"] >= 1
    assert summary["latest_usage_update"]["used"] > 0


@pytest.mark.slow
async def test_harbor_rejects_everything(tmp_path: Path) -> None:
    summary = await run_harbor(tmp_path, "openai/scripted-large", "edit the file", "deny")
    assert summary["prompt_response"]["stopReason"]
    assert (tmp_path / "workspace" / "a.py").read_text() == BEFORE


def test_the_manifest_for_harbor_has_this_version() -> None:
    record = json.loads(RECORD.read_text())
    assert record["version"] == __version__
    assert os.path.basename(COMMAND) == record["distribution"]["local"]["cmd"]


async def test_harbor_accepts_the_manifest_of_the_sources(tmp_path: Path) -> None:
    check = (
        "import sys; from harbor.models.agent.acp_source import AcpSourceManifest as M; "
        "print(M.model_validate_json(open(sys.argv[1]).read()).version)"
    )
    environment = {**agent_environment(tmp_path), "PYTHONPATH": str(HARBOR)}
    done = await run_command(
        "-c",
        check,
        str(ROOT / "harbor-agent.json"),
        environment=environment,
        cwd=tmp_path,
        command=sys.executable,
    )
    assert (done.code, done.output.strip()) == (0, __version__), done.errors
