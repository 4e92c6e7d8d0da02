"""Files that a hook changed after a call: their diffs end with the current content."""

from pathlib import Path

import pytest

from hermes_acp.core.event_types import Diff
from hermes_acp.core.proposals import Result
from hermes_acp.core.record.file_versions import file_version
from hermes_acp.hooks.changed_files import files_on_disk, with_changed_files

pytestmark = pytest.mark.anyio


def written(path: Path, text: str, *diffs: Diff) -> Result:
    seen = (file_version(str(path), text.encode()),)
    return Result("Done.", diffs=diffs or (Diff(str(path), None, text),), seen=seen)


async def test_the_diff_ends_with_the_changed_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x=1\n")
    result = written(path, "x=1\n")
    known = await files_on_disk(result)
    path.write_text("x = 1\n")
    now, changed = await with_changed_files(result, known)
    assert changed == (str(path),)
    assert now.diffs == (Diff(str(path), None, "x = 1\n"),)
    assert now.seen == result.seen


async def test_a_file_not_on_the_disk_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("saved\n")
    draft = written(path, "not saved yet\n")
    known = await files_on_disk(draft)
    assert known == ()
    assert await with_changed_files(draft, known) == (draft, ())


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", None])
async def test_a_file_that_is_gone_or_no_longer_text_keeps_its_diff(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "a"
    path.write_text("x\n")
    result = written(path, "x\n")
    known = await files_on_disk(result)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    now, changed = await with_changed_files(result, known)
    assert now.diffs == result.diffs
    assert changed == ((str(path),) if content else ())


async def test_a_part_of_a_large_file_keeps_its_diff(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("whole\ntext\n")
    result = written(path, "whole\ntext\n", Diff(str(path), "old\n", "text\n", first_line=2))
    known = await files_on_disk(result)
    path.write_text("whole\nother\n")
    now, changed = await with_changed_files(result, known)
    assert (now.diffs, changed) == (result.diffs, (str(path),))
