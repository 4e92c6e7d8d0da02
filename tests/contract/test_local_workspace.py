"""Tests specific to the local workspace."""

import os
from pathlib import Path

import pytest

from hermes_acp.core.errors import BadRequest, OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import SearchQuery
from hermes_acp.workspaces import disk_files
from hermes_acp.workspaces.backends.local import BACKEND

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "project"
    place.mkdir()
    return place


async def test_the_local_disk_follows_no_link(folder: Path) -> None:
    theirs = folder.parent / "theirs"
    theirs.mkdir()
    (theirs / "file").write_text("secret")
    (folder / "sub").symlink_to(theirs)
    (folder / "file").symlink_to(theirs / "file")
    for path in (f"{folder}/sub/file", f"{folder}/file"):
        with pytest.raises(WorkspaceError):
            disk_files.read_snapshot(path, [str(folder)])
        with pytest.raises(WorkspaceError):
            disk_files.replace_file(path, b"x", [str(folder)])
    with pytest.raises(WorkspaceError):
        disk_files.list_folder(f"{folder}/sub", [str(folder)])
    assert (theirs / "file").read_text() == "secret"


async def test_a_located_file_is_read_wherever_a_link_points_since_then(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "other").mkdir()
    (folder / "other/file").write_text("not what was judged")
    workspace = BACKEND.open(str(folder), (str(folder),), {"PATH": os.defpath})
    path = workspace.locate("sub/file")
    (folder / "sub").rmdir()
    (folder / "sub").symlink_to("other")
    for for_edit in (False, True):
        with pytest.raises(WorkspaceError, match="symbolic link"):
            await workspace.read(path, for_edit=for_edit)


@pytest.mark.parametrize(
    "path", ["{}/../theirs", "{}/sub/../../theirs", "theirs", "../theirs", "/proc/self/environ"]
)
async def test_the_local_disk_does_not_leave_its_root(folder: Path, path: str) -> None:
    (folder / "sub").mkdir()
    (folder.parent / "theirs").write_text("secret")
    for roots in ([str(folder)], [str(folder), "/proc"]):
        with pytest.raises(OutsideRoots):
            disk_files.read_snapshot(path.format(folder), roots)
        with pytest.raises(OutsideRoots):
            disk_files.replace_file(path.format(folder), b"x", roots)
    assert (folder.parent / "theirs").read_text() == "secret"


async def test_proc_is_inaccessible_even_if_the_root_is_everything() -> None:
    workspace = BACKEND.open("/", ["/"], {})
    with pytest.raises(OutsideRoots):
        await workspace.read(workspace.locate("/proc/self/environ"))
    assert workspace.locate("etc/hosts-of-nobody") == "/etc/hosts-of-nobody"
    assert "etc/" in [entry.name for entry in await workspace.entries("/")]


async def test_no_search_reads_the_private_folder(folder: Path) -> None:
    for name in ("home[1]/sessions/a.jsonl", "sub/home[1]/b.txt"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("needle\n")
    private = f"{folder}/home[1]"
    workspace = BACKEND.open(str(folder), (str(folder),), {"PATH": os.defpath}, private)
    for glob in (None, "**/*", "home*/**"):
        found = await workspace.search(SearchQuery("needle", str(folder), glob))
        assert not [match for match in found if match.path.startswith(private)]
    everywhere = await workspace.search(SearchQuery("needle", str(folder)))
    assert [match.path for match in everywhere] == [str(folder / "sub/home[1]/b.txt")]
    assert await workspace.search(SearchQuery("needle", private)) == []


async def test_only_existing_absolute_folders_can_be_opened(folder: Path) -> None:
    for cwd, roots in (("relative", ("/",)), (str(folder / "missing"), (str(folder),))):
        with pytest.raises(BadRequest):
            BACKEND.open(cwd, roots, {})
    with pytest.raises(OutsideRoots):
        BACKEND.open("/", (str(folder),), {})


async def test_a_quick_look_returns_the_same_as_a_full_one_or_nothing(folder: Path) -> None:
    roots = [str(folder)]
    (folder / "small").write_bytes(b"some words")
    (folder / "large").write_bytes(b"x" * disk_files.PEEK_BYTES)
    (folder / "empty").touch()
    (folder / "link").symlink_to(folder / "small")
    os.mkfifo(folder / "pipe")
    for name in ("large", "empty", "link", "pipe", "absent", "absent/below", "."):
        assert disk_files.peek_at(f"{folder}/{name}", roots) is None
    assert disk_files.peek_at("/etc/hosts", roots) is None
    glanced = disk_files.peek_at(f"{folder}/small", roots)
    assert glanced in (
        None,
        disk_files.read_snapshot(f"{folder}/small", roots),
    )  # Not every file system keeps files in memory.


async def test_a_root_that_became_a_link_still_leads_to_its_folder(folder: Path) -> None:
    (folder / "file").touch()
    alias = folder.parent / "alias"
    alias.symlink_to(folder)
    workspace = BACKEND.open(str(alias), (str(alias),), {"PATH": os.defpath})
    assert workspace.locate("file") == f"{folder}/file"
    with pytest.raises(OutsideRoots):
        workspace.locate("../file")
