"""Commands started in a folder that no longer exists."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import pytest

from hermes_acp.frontends.chat.chat_command import chat_command
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.frontends.command_line.deleted_folder import explain_deleted_folder

if sys.platform == "win32":
    pytest.skip("Windows deletes no folder that a process is in", allow_module_level=True)


@pytest.fixture
def deleted_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Make a deleted folder the working directory of one test."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HERMES_MODEL", "scripted")
    before = Path.cwd()
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    try:
        yield
    finally:
        os.chdir(before)


@pytest.mark.usefixtures("deleted_folder")
@pytest.mark.parametrize(
    ("command", "typed"),
    [(chat_command, ""), (run_command, "run hi"), (run_command, "tools list"), (run_command, "trust")],
)
def test_a_message_says_that_the_folder_was_deleted(
    command: Callable[[Sequence[str]], int], typed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command(typed.split()) == 2
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.startswith("hermes-acp: The current folder was deleted.")


def test_another_missing_file_is_another_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), explain_deleted_folder():
        (tmp_path / "none").read_text()
