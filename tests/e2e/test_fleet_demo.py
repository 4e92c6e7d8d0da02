"""`make fleet-demo` as a new user runs it: real Postgres, Temporal and workers, one of which is killed."""

import sys
from pathlib import Path

import anyio
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

BOUND_S = 400
ROOT = Path(__file__).parents[2]


async def test_ten_cards_are_done_once_although_a_worker_is_killed(tmp_path: Path) -> None:
    with anyio.fail_after(BOUND_S):
        done = await anyio.run_process(
            [sys.executable, str(ROOT / "examples" / "fleet_demo")],
            check=False,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        )
    output = done.stdout.decode()
    assert done.returncode == 0, output + done.stderr.decode()
    assert "were just killed" in output
    assert "10 done" in output
    assert "10 files are on main, each merged by exactly one commit." in output
