"""Matrix against a real Synapse: three accounts in one room, and in direct conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.platform_suite import check_all
from tests.gateway.synapse_server import PYTHON, matrix_world, synapse

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="Synapse is not installed: tests/install.sh all"),
]


async def test_matrix(tmp_path: Path) -> None:
    with synapse(tmp_path) as address:
        async with matrix_world(address) as world:
            await check_all(world, tmp_path)
