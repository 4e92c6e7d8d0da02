"""Data is synced with what the system offers: fcntl on macOS, fdatasync on Linux, fsync where neither works."""

import os
from pathlib import Path

import pytest

from hermes_acp.storage import disk_sync
from hermes_acp.storage.disk_sync import sync_content, sync_file


@pytest.fixture
def descriptor(tmp_path: Path) -> int:
    return os.open(tmp_path / "file", os.O_CREAT | os.O_RDWR)


def test_content_and_files_are_synced(descriptor: int) -> None:
    sync_content(descriptor)
    sync_file(descriptor)
    os.close(descriptor)


def test_an_unsupported_full_sync_falls_back(descriptor: int) -> None:
    assert not disk_sync.sync_fully(descriptor, 10_000)
    os.close(descriptor)


def test_a_failing_disk_is_reported() -> None:
    with pytest.raises(OSError, match="Bad file descriptor"):
        sync_file(10_000)
