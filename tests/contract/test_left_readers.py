"""A reader that exits early, such as `head`, ends a command without an error message."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("line", ["skills list --json", "sessions list --json", "scan ."])
def test_a_reader_that_exits_early_causes_no_message(line: str, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", "hermes_acp", *line.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HERMES_HOME": str(tmp_path / "home")},
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")
