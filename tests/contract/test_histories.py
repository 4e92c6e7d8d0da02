"""Concurrent processes each write many versions of one folder: no version is lost or mixed up."""

import os
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

from hermes_acp.core.event_types import Diff
from hermes_acp.core.ports.custom_tool_ports import ToolChange, ToolPreview
from hermes_acp.storage.version_history import ChangeCause, open_history, read_tree, tree_digest
from hermes_acp.tools.custom.tool_editor import ToolEditor
from hermes_acp.tools.custom.tool_failures import ToolFailureLog
from hermes_acp.tools.custom.tool_folders import ToolFolders
from hermes_acp.tools.custom.tool_versions import versions_of

ROUNDS = 40
TOOL = 'TOOL = {{"name": "{name}", "description": "Say it."}}\n\n\ndef run():\n    return {number}\n'


def run_both(target: Callable[..., None], *arguments: str) -> None:
    context = get_context("spawn")
    writers = [context.Process(target=target, args=(*arguments, name)) for name in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0]


def change_a_skill(home: str, name: str) -> None:
    """Write this process's file again and again, and roll back in between."""
    history = open_history(Path(home), "skills", Path(home) / "skills" / "ship")
    for number in range(ROUNDS):
        text = f"{name} {number}\n".encode()
        history.change({f"{name}.md": text}, ChangeCause("agent", number, f"{name} {number}"))
        if number % 10 == 9:
            history.restore(1, ChangeCause("user", number, f"{name} goes back"))


def test_every_version_of_a_skill_is_stored(tmp_path: Path) -> None:
    run_both(change_a_skill, str(tmp_path))
    history = open_history(tmp_path, "skills", tmp_path / "skills" / "ship")
    versions = history.versions()
    assert [each.number for each in versions] == list(range(1, len(versions) + 1))
    said = [each.cause.why for each in versions]
    assert {f"{name} {number}" for name in ("one", "two") for number in range(ROUNDS)} <= set(said)
    assert {each.cause.who for each in versions} == {"agent", "user"}
    assert "found like this" not in said
    for version in versions:
        for file in version.files:
            assert history.content(file).decode().split()[0] == Path(file.path).stem
    assert read_tree(history.folder) == versions[-1].files


def change_a_tool(home: str, name: str) -> None:
    """Write this process's tool into the shared folder."""
    place = Path(home)
    find_skill_folders = ToolFolders(place)
    workshop = ToolEditor(
        place, find_skill_folders, ToolFailureLog(place), lambda: 1.0, lambda file, cwd: None
    )
    folder = place / "tools"
    for number in range(ROUNDS):
        path = folder / f"{name}.py"
        before = path.read_text() if path.exists() else None
        text = TOOL.format(name=name, number=number)
        files = [each for each in read_tree(folder) if each.path == path.name]
        preview = ToolPreview("user", tree_digest(tuple(files)), Diff(str(path), before, text), "")
        change = ToolChange("patch", name, f"round {number}", text)
        workshop.change_now(home, change, preview, "agent")


def test_two_tools_in_one_folder_are_written_concurrently(tmp_path: Path) -> None:
    run_both(change_a_tool, str(tmp_path))
    workshop_history = open_history(tmp_path, "tools", tmp_path / "tools")
    for name in ("one", "two"):
        versions = versions_of(workshop_history, name, 1.0)
        assert [each.cause.why for each in versions] == [f"round {number}" for number in range(ROUNDS)]
    assert sorted(os.listdir(tmp_path / "tools")) == ["one.py", "two.py"]
