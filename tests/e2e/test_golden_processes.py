"""Every golden transcript, replayed with real processes by Node; every frame is parsed with the official SDK's
schemas.

`test_golden_transcripts` replays them in one process with Python.
"""

import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import COMMAND
from tests.e2e.foreign_clients import CLIENTS, node_for
from tests.golden.process_stage import set_stage
from tests.golden.transcript import all_transcripts, read_transcript
from tests.model_server import serve

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
AT_ONCE = 3
BOUND_S = 900


async def test_typescript_replays_every_transcript(tmp_path: Path, require_all: bool) -> None:
    node = node_for("@agentclientprotocol/sdk", is_required=require_all)
    jobs: list[dict[str, Any]] = []
    async with AsyncExitStack() as stack:
        for number, path in enumerate(all_transcripts()):
            header = read_transcript(path).header
            place = tmp_path.resolve() / str(number)
            place.mkdir()
            server = await stack.enter_async_context(serve(header.replies, holds_models=True))
            stage, variables = set_stage(place, header, server)
            jobs.append(
                {
                    "transcript": str(path),
                    "names": stage.names,
                    "models": f"{server.anthropic_base_url}/_gates/models",
                    "environment": variables,
                    "place": str(place),
                }
            )
        listed = tmp_path / "jobs.json"
        listed.write_text(json.dumps({"command": COMMAND, "atOnce": AT_ONCE, "jobs": jobs}))
        with anyio.fail_after(BOUND_S):
            done = await anyio.run_process(
                [node, str(CLIENTS / "replay.mjs"), str(listed)], check=False, cwd=tmp_path
            )
    assert done.returncode == 0, done.stderr.decode()
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["faults"] == [], "\n\n".join(told["faults"])
    assert told["held"] == len(jobs)
    assert told["framesChecked"] > 5 * len(jobs)
