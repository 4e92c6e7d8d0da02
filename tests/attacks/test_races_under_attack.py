"""A05: an approved file is swapped for a link to the canary, ten thousand times, while it is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.workspaces import disk_files, openat2, path_confinement
from tests.attacks.attack_checks import Canary

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")
SWAPS = 10_000
SWAP_FILE = """
import os, sys
path, canary, stop = sys.argv[1:]
number = 0
print("swapping", flush=True)
while not os.path.exists(stop) or number < int({swaps}):
    for make in (lambda at: os.symlink(canary, at), lambda at: open(at, "w").close()):
        spare = path + f".{{number % 2}}"
        make(spare)
        os.replace(spare, path)
        number += 1
print(number)
"""
SWAP_FOLDER = """
import ctypes, os, sys
path, canary, stop = sys.argv[1:]
folder, link = os.path.dirname(path).encode(), os.path.dirname(path).encode() + b".link"
os.symlink(os.path.dirname(canary), link)
swap = ctypes.CDLL(None).renameat2
number = 0
print("swapping", flush=True)
while not os.path.exists(stop) or number < int({swaps}):
    assert swap(-100, folder, -100, link, 2) == 0
    number += 1
print(number)
"""


@contextmanager
def swapping(script: str, path: Path, canary: Path) -> Generator[None]:
    """Swap in another process until the block ends, at least this often; then report the number of swaps."""
    stop = path.parents[1] / "stop"
    command = [sys.executable, "-c", script.format(swaps=SWAPS), str(path), str(canary), str(stop)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as swapper:
        assert swapper.stdout
        assert swapper.stdout.readline() == "swapping\n"
        try:
            yield
        finally:
            stop.touch()
        said, _ = swapper.communicate(timeout=60)
    assert swapper.returncode == 0
    assert int(said) >= SWAPS


class Tally:
    """How often an attempt succeeded, and how often it was refused."""

    def __init__(self) -> None:
        self.done = self.refused = 0

    def rounds(self, least: int) -> Iterator[int]:
        """Count this many rounds, and more until both outcomes occurred: on a slow machine, one comes late."""
        for number in range(100 * least):
            if number >= least and self.done and self.refused:
                return
            yield number

    def attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
            self.done += 1
        except (WorkspaceError, OSError):
            self.refused += 1


@pytest.mark.parametrize("script", [SWAP_FILE, SWAP_FOLDER], ids=["file", "folder"])
def test_a05_ten_thousand_swaps_never_reach_the_canary(tmp_path: Path, script: str) -> None:
    canary, tally = Canary(tmp_path), Tally()
    roots = (str(tmp_path / "workspace"),)
    path = tmp_path / "workspace" / "sub" / canary.path.name
    path.parent.mkdir(parents=True)
    path.touch()

    def read() -> None:
        assert canary.token.encode() not in (disk_files.read_snapshot(str(path), roots).content or b"")

    with swapping(script, path, canary.path):
        for _ in tally.rounds(1_000):
            tally.attempt(lambda: disk_files.replace_file(str(path), b"overwritten", roots))
            tally.attempt(read)
            tally.attempt(lambda: disk_files.list_folder(str(path.parent), roots))
            tally.attempt(lambda: disk_files.remove_file(str(path), roots))
    canary.check(b"")
    assert tally.refused > 0
    assert tally.done > 0
    assert os.listdir(canary.path.parent) == [canary.path.name]


def test_a05_swaps_do_not_reach_it_with_our_own_path_resolution_either(tmp_path: Path) -> None:
    canary, tally = Canary(tmp_path), Tally()
    path = tmp_path / "workspace" / "sub" / "file"
    path.parent.mkdir(parents=True)

    def create() -> None:
        folder = path_confinement.walk_down(
            os.open(path.parents[1], os.O_RDONLY | os.O_DIRECTORY), ["sub"], create=True
        )
        try:
            os.close(os.open("probe", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=folder))
        finally:
            os.close(folder)

    with swapping(SWAP_FOLDER, path, canary.path):
        for _ in tally.rounds(5_000):
            tally.attempt(create)
    canary.check(b"")
    assert tally.refused > 0
    assert os.listdir(canary.path.parent) == [canary.path.name]


def test_a05_openat2_is_used_where_it_exists(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to("b")
    root = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        opened = openat2.open_beneath(root, "a/b")
        if opened is None:
            pytest.skip("this kernel has no openat2")
        assert os.fstat(opened).st_ino == (tmp_path / "a" / "b").stat().st_ino
        os.close(opened)
        for outward in ("a/link", "..", "a/../..", "/etc"):
            with pytest.raises(OSError, match=re.escape(outward)):
                openat2.open_beneath(root, outward)
    finally:
        os.close(root)


def test_a05_the_file_that_is_written_is_the_one_that_was_checked(tmp_path: Path) -> None:
    path, roots = tmp_path / "a.txt", (str(tmp_path),)
    path.write_text("one")
    known = disk_files.read_snapshot(str(path), roots)
    (tmp_path / "b.txt").write_text("one")
    os.replace(tmp_path / "b.txt", path)
    with pytest.raises(WorkspaceError, match="was replaced by another file"):
        disk_files.replace_file(str(path), b"two", roots, known)
    assert path.read_text() == "one"
    absent = disk_files.read_snapshot(str(tmp_path / "new.txt"), roots)
    (tmp_path / "new.txt").write_text("somebody's")
    with pytest.raises(WorkspaceError, match="was replaced by another file"):
        disk_files.replace_file(str(tmp_path / "new.txt"), b"mine", roots, absent)
