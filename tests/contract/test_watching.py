"""Folders are watched on a real disk, whatever happens in them."""

import os
from pathlib import Path

import anyio
import pytest

from hermes_acp.knowledge.watching import changed

pytestmark = pytest.mark.anyio
WAIT_S = 20


@pytest.mark.parametrize("name", ["new.md", os.fsdecode(b"bytes\xff\xfe")], ids=["a name", "no text"])
async def test_a_new_file_is_noticed_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    deep, shallow = tmp_path / "deep", tmp_path / "shallow"
    (deep / "below").mkdir(parents=True)
    shallow.mkdir()

    async def make() -> None:
        (deep / "below" / name).write_text("x")

    with anyio.fail_after(WAIT_S):
        await changed([deep], [shallow], make)
