"""A draft workspace: nothing reaches the disk, but everything looks as if it had."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_acp.core.errors import OutsideRoots, WorkspaceError
from hermes_acp.workspaces.backends.local import BACKEND
from hermes_acp.workspaces.draft_workspace import Draft, Drafts, DraftWorkspace

pytestmark = pytest.mark.anyio


class Open:
    """The files that an editor has open, by path."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def text_of(self, path: str) -> str | None:
        return self.texts.get(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path.resolve()
    (place / "a.py").write_text("saved\n")
    return place


def drafted(folder: Path, documents: Open) -> tuple[DraftWorkspace, Drafts]:
    drafts = Drafts(documents)
    return DraftWorkspace(BACKEND.open(str(folder), (str(folder),), {}), drafts), drafts


async def test_a_write_is_a_draft_on_top_of_the_content_that_was_read(folder: Path) -> None:
    documents = Open()
    workspace, drafts = drafted(folder, documents)
    path = str(folder / "a.py")
    documents.texts[path] = "typed\n"
    assert await workspace.read(path, for_edit=True) == b"typed\n"
    documents.texts[path] = "typed on\n"
    await workspace.write(path, b"new\n")
    assert await workspace.read(path) == b"new\n"
    piece = await workspace.read_range(path, 1, 2)
    assert piece
    assert (piece.content, piece.size_bytes) == (b"ew", 4)
    await workspace.write(path, b"newer\n")
    assert (folder / "a.py").read_text() == "saved\n"
    assert drafts.take() == (Draft(path, b"typed\n", b"newer\n"),)
    assert await workspace.read(path) == b"typed on\n"


async def test_a_file_with_its_original_content_is_not_a_draft(folder: Path) -> None:
    workspace, drafts = drafted(folder, Open())
    path = str(folder / "a.py")
    await workspace.write(path, b"other\n")
    await workspace.write(path, b"saved\n")
    new = str(folder / "new.py")
    await workspace.write(new, b"")
    await workspace.remove(new)
    assert drafts.take() == ()


async def test_a_folder_is_listed_with_its_drafts(folder: Path) -> None:
    workspace, _ = drafted(folder, Open())
    await workspace.write(str(folder / "b.py"), b"12345")
    await workspace.remove(str(folder / "a.py"))
    assert [(entry.name, entry.size_bytes) for entry in await workspace.entries(str(folder))] == [("b.py", 5)]
    assert await workspace.read(str(folder / "a.py")) is None


async def test_content_that_no_editor_can_show_is_rejected(folder: Path) -> None:
    workspace, drafts = drafted(folder, Open())
    (folder / "picture").write_bytes(b"\x89PNG\0")
    (folder / "latin").write_bytes(b"caf\xe9")
    for name, content in (("picture", b"text"), ("latin", b"caf\xe9s"), ("new", b"\0")):
        with pytest.raises(WorkspaceError, match="not UTF-8 text"):
            await workspace.write(str(folder / name), content)
    with pytest.raises(WorkspaceError, match="no file"):
        await workspace.remove(str(folder / "absent"))
    assert drafts.take() == ()


async def test_links_and_folders_outside_are_inaccessible(folder: Path) -> None:
    workspace, drafts = drafted(folder, Open())
    (folder / "link.py").symlink_to(folder / "a.py")
    with pytest.raises(WorkspaceError, match="symbolic link"):
        await workspace.write(str(folder / "link.py"), b"x")
    with pytest.raises(OutsideRoots):
        await workspace.write("/etc/passwd", b"x")
    assert drafts.take() == ()
