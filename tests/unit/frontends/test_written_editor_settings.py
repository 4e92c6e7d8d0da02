"""Setup writes for each editor what `editor-clients` documents; writing it again changes nothing."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.messages import editor_messages
from hermes_acp.frontends.cli.setup.editor_files import PLANS, TEMPLATES, Machine, plan_changes
from hermes_acp.frontends.cli.setup.jsonc_text import member, read_jsonc
from tests.architecture.sources import ROOT

CLIENTS = ROOT / "editor-clients"
COMMAND = "/opt/with space/hermes-acp"
JSON = {
    "acpx": ("config.json", ("agents", "hermes")),
    "jetbrains": ("acp.json", ("agent_servers", "Hermes")),
    "vscode": ("settings.json", ("acp.agents", "Hermes")),
    "zed": ("settings.json", ("agent_servers", "Hermes")),
}


def machine(home: Path) -> Machine:
    return Machine(home, home / ".config", COMMAND, "linux")


def write(home: Path, editor: str) -> list[Path]:
    changes = plan_changes(editor, machine(home))
    for change in changes:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        change.path.write_text(change.after)
    return [change.path for change in changes]


def test_there_is_a_plan_for_each_editor_with_a_folder() -> None:
    folders = sorted(path.parent.name for path in CLIENTS.glob("*/check.jsonl"))
    assert sorted(PLANS) == folders == sorted(editor_messages.NEXT)


@pytest.mark.parametrize("editor", sorted(PLANS))
def test_writing_a_second_time_changes_nothing(editor: str, tmp_path: Path) -> None:
    paths = write(tmp_path, editor)
    assert all(COMMAND in path.read_text() for path in paths if path.name not in ("icon.svg", "init.el"))
    assert not any(change.is_needed for change in plan_changes(editor, machine(tmp_path)))


@pytest.mark.parametrize("editor", JSON)
def test_the_entry_is_the_documented_one(editor: str, tmp_path: Path) -> None:
    name, names = JSON[editor]
    (path,) = write(tmp_path, editor)
    documented: dict[str, Any] = member((CLIENTS / editor / name).read_text(), names)
    assert member(path.read_text(), names) == {**documented, "command": COMMAND}
    assert path.name == name


@pytest.mark.parametrize("editor", JSON)
def test_only_the_command_of_an_existing_entry_changes(editor: str, tmp_path: Path) -> None:
    _, names = JSON[editor]
    (path,) = write(tmp_path, editor)
    mine = {"command": "old", "env": {"HERMES_HOME": "/x"}}
    path.write_text(json.dumps({names[0]: {names[1]: mine, "other": {}}, "more": 1}, indent=2))
    write(tmp_path, editor)
    assert read_jsonc(path.read_text())["more"] == 1
    assert read_jsonc(path.read_text())[names[0]] == {names[1]: {**mine, "command": COMMAND}, "other": {}}


@pytest.mark.parametrize("editor", JSON)
def test_an_unreadable_file_is_never_changed(editor: str, tmp_path: Path) -> None:
    (path,) = write(tmp_path, editor)
    for content in (b"{ 'no': json }", b"\xff\xfe"):
        path.write_bytes(content)
        with pytest.raises(BadRequest, match="was left as it is"):
            plan_changes(editor, machine(tmp_path))
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("template", "client"),
    [
        ("hermes.el", "emacs/hermes.el"),
        ("hermes-acp.lua", "neovim/hermes-acp.lua"),
        ("hermes_persona.py.txt", "jupyter/hermes_persona.py"),
        ("icon.svg", "jupyter/icon.svg"),
        ("marimo.sh", "marimo/start.sh"),
        ("toad.sh", "toad/start.sh"),
    ],
)
def test_the_templates_are_the_files_in_editor_clients(template: str, client: str) -> None:
    assert (TEMPLATES / template).read_text() == (CLIENTS / client).read_text()


def test_emacs_init_files_keep_their_content(tmp_path: Path) -> None:
    (tmp_path / ".emacs").write_text(";; mine")
    write(tmp_path, "emacs")
    text = (tmp_path / ".emacs").read_text()
    assert text.startswith(";; mine\n(autoload 'hermes-agent-shell ")
    assert not (tmp_path / ".emacs.d" / "init.el").exists()


@pytest.mark.parametrize("editor", ["marimo", "toad"])
def test_the_scripts_are_valid_shell(editor: str, tmp_path: Path) -> None:
    (path,) = write(tmp_path, editor)
    subprocess.run(["sh", "-n", str(path)], check=True, timeout=20)
