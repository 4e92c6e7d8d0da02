"""Lists that the command line prints for scripts."""

import json
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.storage.version_history import ChangeCause, open_history

SKILL = "---\nname: {name}\ndescription: Cut a release.\n---\nDo it.\n"
TOOL = 'TOOL = {"name": "hi", "description": "Say hi."}\n\n\ndef run() -> str:\n    return "hi"\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_skills_are_listed_as_json_wherever_the_flag_is(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    folder = home / "skills" / "release"
    folder.mkdir(parents=True)
    place.mkdir()
    (folder / "SKILL.md").write_text(SKILL.format(name="release"))
    open_history(home, "skills", folder).keep(ChangeCause("agent", 1.0, "first"))

    def listed(line: str) -> Any:
        assert run_command([*line.split(), "--cwd", str(place)]) == 0
        return json.loads(capsys.readouterr().out)

    found = listed("skills list --json")
    assert found == listed("skills --json list") == listed("skills --json")
    assert "release" in [line["name"] for line in found["lines"]]
    assert listed("skills search release --json")[0]["name"] == "release"
    (version,) = listed("skills history release --json")
    assert version["cause"]["why"] == "first"


def test_custom_tools_are_listed_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "tools").mkdir(parents=True)
    (home / "tools" / "hi.py").write_text(TOOL)
    (home / "tools" / "bad.py").write_text("TOOL = 1\n")
    assert run_command(["tools", "list", "--json"]) == 0
    bad, hi = json.loads(capsys.readouterr().out)
    assert (bad["name"], bad["state"], bool(bad["faults"])) == ("bad", "faulty", True)
    assert (hi["state"], hi["description"], hi["faults"]) == ("not_trusted", "Say hi.", [])
    assert run_command(["tools", "allow", "hi"]) == 0
    capsys.readouterr()
    assert run_command(["tools", "history", "hi", "--json"]) == 0
    (version,) = json.loads(capsys.readouterr().out)
    assert version["cause"]["who"] == "user"
