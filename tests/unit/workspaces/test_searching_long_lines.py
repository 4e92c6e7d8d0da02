"""A search reports lines that are too long, patterns that are too long, and time limits."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import FileQuery, FoundFiles, SearchMatch, SearchQuery
from hermes_acp.workspaces import ripgrep
from hermes_acp.workspaces.remote.remote_search_results import read_search, split_search_end
from hermes_acp.workspaces.ripgrep_process import MAX_MEMORY_BYTES

pytestmark = pytest.mark.anyio


async def search(folder: Path, pattern: str, program: str = "") -> Sequence[SearchMatch]:
    query = SearchQuery(pattern, str(folder))
    timeout_s = 1.0 if program else ripgrep.TIMEOUT_S
    environment = {"PATH": os.environ["PATH"]}
    return await ripgrep.search(query, environment, [str(folder)], program=program, timeout_s=timeout_s)


async def find(folder: Path, program: str) -> FoundFiles:
    query = FileQuery("*", str(folder))
    return await ripgrep.find(
        query, {"PATH": os.environ["PATH"]}, [str(folder)], program=program, timeout_s=1.0
    )


async def test_a_match_in_a_line_too_long_to_show_is_reported_with_its_position(tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    with long.open("w") as file:
        file.write("first\n")
        for _ in range(20):
            file.write("x" * 1_000_000)
        file.write("needle\nlast needle\n")
    matches = await search(tmp_path, "needle")
    assert [(match.path, match.line) for match in matches] == [(str(long), 2), (str(long), 3)]
    assert "too long to show" in matches[0].text
    assert matches[1].text == "last needle"


async def test_a_pattern_that_is_too_long_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="100,000 characters"):
        await search(tmp_path, "a" * 100_000)


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Return a search program that prints the text in `found` beside it and then never ends."""
    program = tmp_path / "bin" / "rg"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat {program.parent}/found\nexec sleep 300\n")
    program.chmod(0o755)
    return program


async def test_a_search_that_times_out_does_not_say_that_nothing_matches(
    tmp_path: Path, endless: Path
) -> None:
    (endless.parent / "found").write_text("")
    with pytest.raises(WorkspaceError, match="stopped early"):
        await search(tmp_path, "needle", str(endless))


async def test_matches_found_in_time_are_reported_with_a_note(tmp_path: Path, endless: Path) -> None:
    found: dict[str, Any] = {"path": {"text": "a.txt"}, "lines": {"text": "needle"}, "line_number": 1}
    (endless.parent / "found").write_text(json.dumps({"type": "match", "data": found}) + "\n")
    match, note = await search(tmp_path, "needle", str(endless))
    assert match.text == "needle"
    assert "stopped early" in note.text


async def test_a_search_that_is_killed_does_not_say_that_nothing_matches(tmp_path: Path) -> None:
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    program.chmod(0o755)
    with pytest.raises(WorkspaceError, match="killed by signal 9"):
        await search(tmp_path, "needle", str(program))
    with pytest.raises(WorkspaceError, match="killed by signal 9"):
        await find(tmp_path, str(program))


async def test_a_search_that_runs_out_of_memory_says_so(tmp_path: Path) -> None:
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\necho memory allocation of 1 bytes failed >&2\nkill -ABRT $$\n")
    program.chmod(0o755)
    with pytest.raises(WorkspaceError, match="2 GB were not enough"):
        await search(tmp_path, "needle", str(program))


async def test_the_memory_of_a_search_is_limited(tmp_path: Path) -> None:
    program = tmp_path / "rg"
    program.write_text(
        f"#!/bin/sh\nuntil [ $(ulimit -d) != unlimited ]; do sleep 0.01; done\nulimit -d >{tmp_path}/limit\nexit 1\n"
    )
    program.chmod(0o755)
    assert await search(tmp_path, "needle", str(program)) == []
    assert int((tmp_path / "limit").read_text()) == MAX_MEMORY_BYTES // 1024


async def test_files_that_could_not_be_read_are_reported(tmp_path: Path) -> None:
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\nexit 2\n")
    program.chmod(0o755)
    (note,) = await search(tmp_path, "needle", str(program))
    assert "could not be read" in note.text


async def test_a_stopped_search_says_what_it_was_reading(tmp_path: Path) -> None:
    (tmp_path / "slow.txt").write_text("x" * 100)
    program = tmp_path / "rg"
    program.write_text(f"#!/bin/sh\nexec 3<{tmp_path}/slow.txt\nhead -c 1 <&3 >/dev/null\nsleep 300\n")
    program.chmod(0o755)
    with pytest.raises(WorkspaceError, match=r"while reading .*slow\.txt \(\d+ of 100 bytes\)"):
        await search(tmp_path, "needle", str(program))


async def test_a_file_listing_ends_in_time_and_says_that_it_is_incomplete(
    tmp_path: Path, endless: Path
) -> None:
    (endless.parent / "found").write_text(f"{tmp_path}/a\0{tmp_path}/b\0")
    with pytest.raises(WorkspaceError, match="2 files matched until then"):
        await find(tmp_path, str(endless))


@pytest.mark.parametrize(
    ("output", "reported"),
    [
        (b"\n\0exit 1", ""),
        (b"\n\0exit 137", "killed by signal 9"),
        (b'{"type":"begin"}\n{"type":"mat', "more than can be transferred"),
    ],
)
async def test_a_truncated_remote_search_is_reported(output: bytes, reported: str) -> None:
    whole, end = split_search_end(output, SearchQuery("needle", "/project"))
    assert reported in end.broken_off
    assert bool(reported) == bool(end.broken_off)
    assert read_search(whole, SearchQuery("needle", "/project"), "/project", by_ripgrep=True) == []
