"""Repositories whose own configuration would start a program while git only reads.

No command here is approved by anybody.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from tests.attacks.attack_checks import attacked_agent
from tests.e2e.agent_process import WAIT_S
from tests.e2e.raw_editor import permit

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]
COMMANDS = ("git status", "git diff", "git diff --stat", "git describe --dirty --always")


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, timeout=WAIT_S)


def plant_repository(folder: Path, name: bytes = b"x") -> None:
    """Create a repository with a file that a filter would process, because its time has changed."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    (folder / "f").write_text("a\n")
    git(folder, "add", "f")
    git(folder, "commit", "-qm", "one")
    (folder / ".git/info").mkdir(exist_ok=True)
    (folder / ".git/info/attributes").write_bytes(b"f filter=" + name + b"\n")
    (folder / "f").write_text("b\n")
    os.utime(folder / "f", (1, 1))


def filter_of(marker: Path, name: bytes = b"x") -> bytes:
    return b'[filter "' + name + b'"] clean = "touch ' + os.fsencode(marker) + b'; cat"\n'


def in_a_tracked_repository(work: Path, marker: Path) -> None:
    plant_repository(work)
    plant_repository(work / "inner")
    git(work, "add", "inner")
    with (work / "inner/.git/config").open("ab") as config:
        config.write(filter_of(marker))


def behind_another_section(work: Path, marker: Path) -> None:
    plant_repository(work)
    with (work / ".git/config").open("ab") as config:
        config.write(b"[core] " + filter_of(marker))


def included_behind_a_mark(work: Path, marker: Path) -> None:
    plant_repository(work)
    own = (work / ".git/config").read_bytes()
    (work / ".git/config").write_bytes(b"\xef\xbb\xbf[include] path = more\n" + own)
    (work / ".git/more").write_bytes(filter_of(marker))


def in_a_common_folder(work: Path, marker: Path) -> None:
    plant_repository(work)
    shutil.copytree(work / ".git", work / "docs")
    with (work / "docs/config").open("ab") as config:
        config.write(filter_of(marker))
    (work / ".git/commondir").write_text("../docs\n")


def under_an_unusual_name(work: Path, marker: Path) -> None:
    plant_repository(work, b"\xff\xe2\x80\xa8")
    with (work / ".git/config").open("ab") as config:
        config.write(filter_of(marker, b"\xff\xe2\x80\xa8"))


def among_thousands(work: Path, marker: Path) -> None:
    plant_repository(work)
    many = b"\tother = 1\n" * 10_000
    with (work / ".git/config").open("ab") as config:
        config.write(b'[filter "a"]\n' + many + filter_of(marker) + b'[filter "z"]\n' + many)


PLANTED: Final = MappingProxyType[str, Callable[[Path, Path], None]](
    {
        plant.__name__: plant
        for plant in (
            in_a_tracked_repository,
            behind_another_section,
            included_behind_a_mark,
            in_a_common_folder,
            under_an_unusual_name,
            among_thousands,
        )
    }
)


@pytest.mark.parametrize("how", PLANTED)
async def test_d06_git_starts_no_program_named_anywhere_in_a_repository(tmp_path: Path, how: str) -> None:
    work, marker = tmp_path / "workspace", tmp_path / "was-run"
    PLANTED[how](work, marker)
    refuse = {"session/request_permission": permit("reject_once")}
    async with attacked_agent(tmp_path, answers=refuse, cwd=work) as siege:
        for command in COMMANDS:
            await siege.call("terminal", {"command": command})
            assert not marker.exists(), command
        for action in ("status", "diff", "show"):
            await siege.call("git", {"action": action})
            assert not marker.exists(), action
    subprocess.run(["git", "status"], cwd=work, check=True, capture_output=True, timeout=WAIT_S)
    assert marker.exists(), "git itself would have been led astray"
