"""A short day of one agent; `python -m bench.soak` measures the cost of a long one."""

from pathlib import Path

import pytest

from bench.soak import GOAL_DESCRIPTORS, soak

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_calls_leave_nothing_open_and_no_process_behind(tmp_path: Path) -> None:
    soaked = await soak(tmp_path, calls=150, sessions=10)
    assert soaked.calls == 150
    assert soaked.descriptors_grown <= GOAL_DESCRIPTORS
    assert soaked.memory_grown < 1
