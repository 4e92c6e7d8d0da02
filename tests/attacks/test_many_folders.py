"""Many folders with skills open in one process: every prompt is answered, changes are noticed, the process ends."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment
from tests.e2e.raw_editor import editor
from tests.model_server import Reply, Script, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc"),
]
FOLDERS = 60
MAX_THREADS = 50
"""anyio's pool of 40, whose threads idle for a while, and the process's own; far from one per folder."""


def write_skill(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Do {name}.\n---\nDo it.\n")


async def test_more_folders_than_threads_delay_neither_prompts_nor_shutdown(tmp_path: Path) -> None:
    write_skill(tmp_path / ".hermes" / "skills", "of-the-home")
    script = Script([Reply("Still here.")], pick="cycle")
    async with serve(script) as server, editor(agent_environment(tmp_path, server), tmp_path) as one:
        sessions: list[str] = []
        for number in range(FOLDERS):
            folder = tmp_path / f"project-{number}"
            write_skill(folder / ".hermes" / "skills", f"skill-{number}")
            sessions.append(await one.open_session(folder))
        for session_id in sessions:
            assert (await one.prompt(session_id, "Are you there?")).get("result") == {
                "stopReason": "end_turn"
            }
        assert len(os.listdir(f"/proc/{one.process.pid}/task")) < MAX_THREADS
        write_skill(tmp_path / "project-7" / ".hermes" / "skills", "made-later")
        await one.wait_for(
            lambda m: m.get("params", {}).get("sessionId") == sessions[7] and "made-later" in str(m["params"])
        )
        one.process.send_signal(signal.SIGTERM)
        with anyio.fail_after(WAIT_S):
            assert await one.process.wait() == 0
