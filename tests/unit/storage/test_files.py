"""Files are replaced completely or not at all."""

import os
from pathlib import Path

import pytest

from hermes_acp.storage.private_files import lock_or_busy, sync_folder, unlock_and_close, write_whole


def test_a_new_file_has_the_mode_that_the_umask_allows(tmp_path: Path) -> None:
    plain, written = tmp_path / "plain", tmp_path / "written"
    plain.write_bytes(b"x")
    write_whole(written, b"x")
    assert written.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o464])
def test_a_replaced_file_keeps_its_mode_and_is_a_new_file(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    with path.open("rb") as reader:
        write_whole(path, b"new, and longer")
        assert reader.read() == b"old", "a concurrent reader gets one of the two"
    assert path.read_bytes() == b"new, and longer"
    assert path.stat().st_mode & 0o7777 == mode
    assert os.listdir(tmp_path) == ["file"]


def test_a_requested_mode_is_set(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", b"secret", mode=0o600)
    assert (tmp_path / "file").stat().st_mode & 0o7777 == 0o600


def test_a_file_that_cannot_be_replaced_stays_and_no_temporary_file_is_left(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "folder", b"x")
    assert os.listdir(tmp_path) == ["folder"]
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "none" / "file", b"x")


def test_a_folder_is_synced_through_an_open_descriptor_too(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    sync_folder(Path(f"/dev/fd/{folder}"))
    os.close(folder)
    with pytest.raises(NotADirectoryError):
        sync_folder(Path("/dev/null"))


def test_a_lock_ends_with_its_owner_although_a_child_still_has_the_file_open(tmp_path: Path) -> None:
    path = tmp_path / "record"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    lock_or_busy(descriptor, "It")
    kept = os.dup(descriptor)  # What a child has open between its fork and its exec.
    unlock_and_close(descriptor)
    again = os.open(path, os.O_RDWR)
    try:
        lock_or_busy(again, "It")
    finally:
        os.close(again)
        os.close(kept)
