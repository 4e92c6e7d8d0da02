"""Git settings that start programs: one table, one allow list, and a git process that gets none of them by accident."""

import os
import subprocess
from pathlib import Path

import pytest

from hermes_acp.git.program_settings import (
    INERT_SETTINGS,
    INERT_VARIABLES,
    OFFLINE_SETTINGS,
    shapes_output_only,
    unsafe_setting,
)
from hermes_acp.git.safe_git import GitProgram, settings_text, settings_variables

STOPPED = (*INERT_SETTINGS, *OFFLINE_SETTINGS)
HARMLESS_AND_STOPPED = {"gc.auto", "maintenance.auto"}


def output_of(place: Path, variables: dict[str, str], *arguments: str) -> str:
    program = GitProgram("/usr/bin/git", variables)
    with program.start(arguments, str(place), {}, subprocess.DEVNULL) as process:
        return process.communicate(timeout=30)[0].decode()


@pytest.mark.parametrize("name", [name for name, _ in STOPPED if name not in HARMLESS_AND_STOPPED])
def test_blocked_settings_are_never_on_the_allow_list(name: str) -> None:
    assert unsafe_setting(settings_text([(name, "x")]))
    assert not shapes_output_only(f"{name}=x")


def test_git_reads_the_settings_as_intended(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(settings_text(STOPPED))
    expected = {f"{name.lower()}={value}" for name, value in STOPPED}
    assert set(output_of(tmp_path, {}, "config", "--file", str(config), "--list").split()) == expected
    given = settings_variables(STOPPED)
    listed = subprocess.run(
        ["/usr/bin/git", "config", "--list"],
        cwd=tmp_path,
        env={**INERT_VARIABLES, **given},
        capture_output=True,
    )
    assert set(listed.stdout.decode().split()) == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[color]\n\tui = always\n[diff]\n\trenames = copies\n[advice]\n\tdetachedHead = false\n", ""),
        ('[color "diff"]\n\tmeta = yellow bold\n', ""),
        ("[color]\n\tui = always \\\n", "color.ui"),
        ("[core]\n\tpager = cat\n", "core.pager"),
        ("[core]\n\tattributesFile = ../x\n", "core.attributesfile"),
    ],
)
def test_the_allow_list_contains_only_output_settings(text: str, found: str) -> None:
    assert unsafe_setting(text) == found


@pytest.mark.parametrize(
    ("setting", "is_harmless"),
    [("core.pager=cat", True), ("Core.QuotePath=off", True), ("core.pager=CAT", False), ("color.", False)],
)
def test_command_line_settings_are_checked_against_the_same_list(setting: str, is_harmless: bool) -> None:
    assert shapes_output_only(setting) is is_harmless


def test_variables_that_control_git_are_not_passed_on(tmp_path: Path) -> None:
    trace, elsewhere = tmp_path / "trace", tmp_path / "elsewhere"
    variables = {
        "PATH": os.defpath, "GIT_TRACE_SETUP": str(trace), "GIT_TRACE2_EVENT": str(trace), "GIT_DIR": str(elsewhere),
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "alias.x", "GIT_CONFIG_VALUE_0": f"!touch {trace}",
    }  # fmt: skip
    assert output_of(tmp_path, variables, "init", "--quiet", ".") == ""
    assert output_of(tmp_path, variables, "x") == ""
    assert not trace.exists()
    assert not elsewhere.exists()
    assert (tmp_path / ".git").is_dir()
