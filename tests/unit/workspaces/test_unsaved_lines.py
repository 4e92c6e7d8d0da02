"""Unsaved changes are looked for only in the lines that are shown, not in the whole file."""

from pathlib import Path

import pytest

from hermes_acp.core.errors import EditorStateUnknown
from hermes_acp.workspaces.backends.local import BACKEND
from hermes_acp.workspaces.editor_workspace import EditorWorkspace

pytestmark = pytest.mark.anyio


class RecordingEditor:
    """An editor with one text or none; it stores the requests."""

    reads_files = True
    writes_files = False
    runs_commands = False

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.asked: list[tuple[int, int]] = []
        self.is_silent = False

    async def read_text(self, path: str, first: int = 1, count: int = 0) -> str | None:
        self.asked.append((first, count))
        if self.is_silent:
            raise EditorStateUnknown("no answer")
        if self.text is None or not count:
            return self.text
        return "".join(self.text.splitlines(keepends=True)[first - 1 :][:count])

    async def write_text(self, path: str, text: str) -> None:
        raise AssertionError(path)

    async def run(self, command: object, progress: object) -> None:
        raise AssertionError(command)


def workspace_over(folder: Path, editor: RecordingEditor) -> EditorWorkspace:
    place = str(folder.resolve())
    return EditorWorkspace(editor, BACKEND.open(place, (place,), {"PATH": "/bin:/usr/bin"}))


@pytest.mark.parametrize(
    ("text", "differs"),
    [
        ("one\ntwo\nthree\n", False),
        ("one\r\ntwo\r\nthree\r\n", False),
        ("one\n2\nthree\n", True),
        (None, False),
    ],
)
async def test_only_the_lines_shown_are_compared(tmp_path: Path, text: str | None, differs: bool) -> None:
    editor = RecordingEditor(text)
    workspace = workspace_over(tmp_path, editor)
    path = str(tmp_path.resolve() / "a")
    assert await workspace.differs_from_disk(path, 2, ("two", "three")) == differs
    assert editor.asked == [(2, 2)]
    await workspace.close()


async def test_a_change_elsewhere_is_known_after_the_first_edit_affected_by_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\nthree\n")
    editor = RecordingEditor("ONE\ntwo\nthree\n")
    workspace = workspace_over(tmp_path, editor)
    path = str(tmp_path.resolve() / "a")
    assert not await workspace.differs_from_disk(path, 2, ("two",))
    assert await workspace.read(path, for_edit=True) == b"ONE\ntwo\nthree\n"
    assert await workspace.differs_from_disk(path, 2, ("two",))
    editor.text = "one\ntwo\nthree\n"
    await workspace.read(path, for_edit=True)
    assert not await workspace.differs_from_disk(path, 2, ("two",))
    editor.is_silent = True
    assert not await workspace.differs_from_disk(path, 2, ("two",))
    await workspace.close()
