"""A search says the truth of lines, patterns and times that are too long."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import SearchMatch, SearchQuery
from hermes_acp.workspaces import ripgrep

pytestmark = pytest.mark.anyio


async def search(folder: Path, pattern: str, program: str = "") -> Sequence[SearchMatch]:
    query = SearchQuery(pattern, str(folder))
    timeout_s = 1.0 if program else ripgrep.TIMEOUT_S
    environment = {"PATH": os.environ["PATH"]}
    return await ripgrep.search(query, environment, [str(folder)], program=program, timeout_s=timeout_s)


async def test_a_match_in_a_line_too_long_to_show_is_told_with_its_place(tmp_path: Path) -> None:
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


async def test_a_pattern_too_long_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="100,000 characters"):
        await search(tmp_path, "a" * 100_000)


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Return the program of a search that says what stands in `found` beside it, and then never ends."""
    program = tmp_path / "bin" / "rg"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat {program.parent}/found\nexec sleep 300\n")
    program.chmod(0o755)
    return program


async def test_when_the_time_is_over_it_does_not_say_that_nothing_matches(
    tmp_path: Path, endless: Path
) -> None:
    (endless.parent / "found").write_text("")
    with pytest.raises(WorkspaceError, match="stopped after"):
        await search(tmp_path, "needle", str(endless))


async def test_what_was_found_in_time_is_told_with_the_note(tmp_path: Path, endless: Path) -> None:
    found: dict[str, Any] = {"path": {"text": "a.txt"}, "lines": {"text": "needle"}, "line_number": 1}
    (endless.parent / "found").write_text(json.dumps({"type": "match", "data": found}) + "\n")
    match, note = await search(tmp_path, "needle", str(endless))
    assert match.text == "needle"
    assert "stopped after" in note.text
