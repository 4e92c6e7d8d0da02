"""The versions of an installation, and the link that selects one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_acp.core.errors import Busy, HermesError
from hermes_acp.updates.update_errors import UpdateFailed
from hermes_acp.updates.update_sources import WheelsSource
from hermes_acp.updates.version_folders import FIRST, VersionFolders, VersionRecord
from tests.unit.updates.installations import environment, script


def started(root: Path, name: str = "hermes-acp") -> str:
    return subprocess.run(
        [str(root / "bin" / name)], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()[-1]


def add_version(folders: VersionFolders, version: str, replaces: str) -> str:
    environment(folders.folder / version, version)
    folders.finish(version, VersionRecord(version, WheelsSource("/w"), "d", 0.0, replaces))
    return version


@pytest.fixture
def folders(tmp_path: Path) -> VersionFolders:
    return VersionFolders(environment(tmp_path / "app"))


def test_a_switch_changes_what_both_commands_start_and_nothing_else(folders: VersionFolders) -> None:
    library = sorted((folders.root / "lib").rglob("*"))
    add_version(folders, "0.2.0", FIRST)
    with folders.lock():
        folders.switch("0.2.0")
    assert (started(folders.root), started(folders.root, "hermes-acp-server")) == ("0.2.0", "0.2.0")
    assert (folders.current(), folders.previous()) == ("0.2.0", FIRST)
    assert sorted((folders.root / "lib").rglob("*")) == library
    folders.switch(FIRST)
    assert (started(folders.root), folders.current(), folders.previous()) == ("0.1.0", FIRST, "")


def test_an_incomplete_version_is_never_switched_to(folders: VersionFolders) -> None:
    environment(folders.folder / "0.2.0", "0.2.0")  # No record: it did not pass the checks.
    with pytest.raises(UpdateFailed, match="incomplete"):
        folders.switch("0.2.0")
    assert started(folders.root) == "0.1.0"
    assert folders.unfinished() == ["0.2.0"]


def test_an_installer_that_runs_later_takes_precedence(folders: VersionFolders) -> None:
    add_version(folders, "0.2.0", FIRST)
    folders.switch("0.2.0")
    script(folders.root, "0.3.0")  # As `pip install` does: it removes what was there and writes a script.
    assert (started(folders.root), folders.current()) == ("0.3.0", FIRST)
    assert started(folders.folder / "0.2.0") == "0.2.0", "it does not write through the link"
    folders.switch("0.2.0")
    folders.switch(FIRST)
    assert started(folders.root) == "0.3.0"


def test_unneeded_versions_are_removed(folders: VersionFolders) -> None:
    for version, replaces in (("0.2.0", FIRST), ("0.3.0", "0.2.0"), ("0.4.0", "0.3.0")):
        add_version(folders, version, replaces)
        folders.switch(version)
    (folders.folder / "half").mkdir()
    left = folders.root / "bin" / ".hermes-acp.123"
    left.symlink_to("nowhere")
    assert folders.prune() == ["0.2.0", "half"]
    assert (started(folders.root), folders.previous()) == ("0.4.0", "0.3.0")
    assert not os.path.lexists(left)
    folders.switch("0.3.0")
    assert folders.prune() == [], "going back keeps the newer version"


def test_a_running_version_is_kept(folders: VersionFolders) -> None:
    add_version(folders, "0.2.0", "gone")
    python = folders.folder / "0.2.0" / "bin" / "python"
    process = subprocess.Popen(
        [str(python), "-c", "echo; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout
    process.stdout.readline()  # It is running.
    try:
        assert folders.prune() == []
    finally:
        process.communicate(b"\n", timeout=60)
    assert folders.prune() == ["0.2.0"]


def test_only_one_process_may_change_it(folders: VersionFolders) -> None:
    with (
        folders.lock(),
        pytest.raises(Busy, match="is running") as caught,
        VersionFolders(folders.root).lock(),
    ):
        pass
    assert "update.log" in caught.value.hint


def test_a_link_to_elsewhere_is_not_taken_for_a_version(folders: VersionFolders) -> None:
    command = folders.root / "bin" / "hermes-acp"
    command.unlink()
    command.symlink_to("/usr/bin/env")
    assert folders.current() == FIRST


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_an_error(folders: VersionFolders) -> None:
    folders.root.chmod(0o500)
    try:
        with pytest.raises(HermesError), folders.lock():
            pass
    finally:
        folders.root.chmod(0o700)


SWITCHING = """
import sys
from pathlib import Path
from hermes_acp.updates.version_folders import FIRST, VersionFolders
folders = VersionFolders(Path(sys.argv[1]))
print(flush=True)
while True:
    for name in ("0.2.0", FIRST):
        folders.switch(name)
"""


def test_killing_a_switch_at_any_moment_leaves_one_whole_version(folders: VersionFolders) -> None:
    add_version(folders, "0.2.0", FIRST)
    for starts in range(int(os.environ.get("HERMES_TEST_EXAMPLES", "3"))):
        process = subprocess.Popen(
            [sys.executable, "-c", SWITCHING, str(folders.root)], stdout=subprocess.PIPE
        )
        assert process.stdout
        process.stdout.readline()
        seen = {started(folders.root) for _ in range(5 + starts % 7)}  # Each start sees another time.
        process.kill()
        process.communicate(timeout=60)
        assert seen <= {"0.1.0", "0.2.0"}
        assert started(folders.root) in ("0.1.0", "0.2.0")
    folders.prune()
    assert not list((folders.root / "bin").glob(".*")), "temporary links are removed"
