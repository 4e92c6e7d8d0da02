"""Folders are watched on a real disk, whatever happens in them."""

import os
from pathlib import Path

import anyio
import pytest

from hermes_acp.knowledge.watching import changed

pytestmark = pytest.mark.anyio
WAIT_S = 60


@pytest.mark.parametrize("name", ["new.md", os.fsdecode(b"bytes\xff\xfe")], ids=["a name", "no text"])
async def test_a_new_file_is_noticed_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    deep, shallow = tmp_path / "deep", tmp_path / "shallow"
    (deep / "below").mkdir(parents=True)
    shallow.mkdir()

    async def make() -> None:
        (deep / "below" / name).write_text("x")

    with anyio.fail_after(WAIT_S):
        await changed([deep], [shallow], make)


async def test_what_does_not_concern_is_not_told_of(tmp_path: Path) -> None:
    begun = anyio.Event()

    async def begin() -> None:
        begun.set()

    async with anyio.create_task_group() as tasks:

        async def wait() -> None:
            await changed([], [tmp_path], begin, lambda path: path.name == "skills")
            assert (tmp_path / "skills").is_dir()

        tasks.start_soon(wait)
        with anyio.fail_after(WAIT_S):
            await begun.wait()
            (tmp_path / "index.db").write_text("x")
            await anyio.sleep(0.3)
            (tmp_path / "skills").mkdir()
