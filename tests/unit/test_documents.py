"""The reference pages are up to date, and the hand-written pages name everything that the code does."""

import os
import re
import subprocess
import sys
from pathlib import Path

from hermes_acp.config.environment import MODEL_VARIABLES, SWITCHES
from hermes_acp.config.home_folders import PROFILE_VARIABLE
from hermes_acp.frontends.cli.run.run_output import RunReport
from hermes_acp.models.wire.local_detection import LOCAL_PORTS
from tests.architecture.sources import ROOT

HEADLESS = (ROOT / "docs" / "headless.md").read_text(encoding="utf-8")
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def rows(document: str, heading: str) -> list[list[str]]:
    """Return the cells of every table row between a heading and the next one."""
    section = document.split(f"{heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `") or re.match(r"\| \d", line)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_result_line_is_documented() -> None:
    documented = [names(row[0])[0] for row in rows(HEADLESS, "## The last line: `result`")]
    assert documented == ["type", *RunReport.__struct_fields__]


def test_every_variable_is_documented() -> None:
    documented = {names(row[0])[0] for row in rows(CONFIGURATION, "## Environment variables")}
    assert documented == {"HERMES_HOME", PROFILE_VARIABLE, *MODEL_VARIABLES, *SWITCHES}


def test_the_detected_ports_are_documented() -> None:
    for name, port in LOCAL_PORTS:
        assert name in CONFIGURATION
        assert str(port) in CONFIGURATION


def test_the_reference_matches_the_code() -> None:
    command = [sys.executable, str(ROOT / "docs" / "reference" / "generate.py"), "--check"]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_readme_links_the_command_where_no_folder_exists_yet(tmp_path: Path) -> None:
    command = tmp_path / ".local/share/hermes-acp/bin/hermes-acp"
    command.parent.mkdir(parents=True)
    command.touch()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith(("mkdir ", "ln "))]
    done = subprocess.run(
        ["sh", "-ec", "\n".join(lines)],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert (tmp_path / ".local/bin/hermes-acp").resolve() == command
