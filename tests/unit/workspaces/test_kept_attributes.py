"""File attributes that an edit preserves: mode, owner, group, extended attributes, access lists."""

import os
import stat
import struct
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.workspaces import disk_files

ACL = "system.posix_acl_access"
SOMEBODY = 12345


def access_list(user: int) -> bytes:
    """Return the kernel's encoding of `u::rw,u:USER:rw,g::r,m::rw,o::-`."""
    entries = (
        (1, 6, 0xFFFFFFFF),
        (2, 6, user),
        (4, 4, 0xFFFFFFFF),
        (0x10, 6, 0xFFFFFFFF),
        (0x20, 0, 0xFFFFFFFF),
    )
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file.txt"
    path.write_text("before")
    return path


def edit(path: Path) -> None:
    disk_files.replace_file(str(path), b"after", [str(path.parent)])
    assert path.read_bytes() == b"after"


def set_or_skip(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"this file system keeps no {name}: {error}")


@pytest.mark.parametrize("mode", [0o444, 0o640, 0o755, 0o2755])
def test_the_mode_is_preserved(file: Path, mode: int) -> None:
    file.chmod(mode)
    edit(file)
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_attributes_are_preserved_and_none_is_added(file: Path) -> None:
    set_or_skip(file, "user.origin", b"a scanner")
    edit(file)
    assert {name: os.getxattr(file, name) for name in os.listxattr(file) if name.startswith("user.")} == {
        "user.origin": b"a scanner"
    }


def test_an_access_list_is_preserved(file: Path) -> None:
    set_or_skip(file, ACL, access_list(SOMEBODY))
    before, mode = os.getxattr(file, ACL), file.stat().st_mode
    edit(file)
    assert (os.getxattr(file, ACL), file.stat().st_mode) == (before, mode)


def test_a_folders_defaults_for_new_files_are_not_applied_to_an_edited_one(file: Path) -> None:
    set_or_skip(file.parent, "system.posix_acl_default", access_list(SOMEBODY))
    edit(file)
    assert ACL not in os.listxattr(file)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_owner_and_group_are_preserved(file: Path) -> None:
    os.chown(file, SOMEBODY, SOMEBODY)
    file.chmod(0o4750)
    edit(file)
    about = file.stat()
    assert (about.st_uid, about.st_gid, stat.S_IMODE(about.st_mode)) == (SOMEBODY, SOMEBODY, 0o4750)


NOBODY = 65534


@pytest.fixture
def shared_file() -> Generator[Path]:
    """Yield a file owned by root in a folder where everybody may create files."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    with TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = Path(folder) / "file.txt"
        path.write_text("before")
        yield path


@contextmanager
def acting_as_nobody() -> Generator[None]:
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_attributes_that_a_new_file_cannot_have_are_kept_by_writing_in_place(shared_file: Path) -> None:
    shared_file.chmod(0o666)
    before = shared_file.stat()
    with acting_as_nobody():
        edit(shared_file)
    about = shared_file.stat()
    assert (about.st_ino, about.st_uid, about.st_mode) == (before.st_ino, 0, before.st_mode)
    assert os.listdir(shared_file.parent) == ["file.txt"]


def test_if_attributes_cannot_be_kept_the_edit_is_rejected_and_names_them(shared_file: Path) -> None:
    shared_file.chmod(0o644)
    with acting_as_nobody(), pytest.raises(WorkspaceError, match="could not be kept"):
        disk_files.replace_file(str(shared_file), b"after", [str(shared_file.parent)])
    assert shared_file.read_text() == "before"
    assert os.listdir(shared_file.parent) == ["file.txt"]
