"""An unusable settings file is repaired by removing invalid entries, but never a rule."""

from pathlib import Path

import pytest

from hermes_acp.config.environment import Environment, environment_of
from hermes_acp.config.settings import load_settings
from hermes_acp.frontends.cli.setup.settings_repair import find_broken, mend, set_aside


def environment(home: Path, text: str) -> Environment:
    (home / "config.yaml").write_text(text)
    return environment_of({"HERMES_HOME": str(home)})


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("mode: ask\nprovider: none  # mine\n", "mode: ask\n"),
        ("providers:\n  nme:\n    wire: anthropic\nmode: plan\n", "mode: plan\n"),
        ("budget: {max_steps: many, max_tokens: 5}\n", "budget:\n  max_tokens: 5\n"),
    ],
)
def test_invalid_entries_are_removed_and_a_copy_is_kept(text: str, mended: str, tmp_path: Path) -> None:
    place = environment(tmp_path, text)
    (broken,) = find_broken(place)
    copy = mend(broken)
    assert copy.read_text() == text
    assert (tmp_path / "config.yaml").read_text() == mended
    load_settings(place)
    assert find_broken(place) == ()


@pytest.mark.parametrize(
    "text",
    [
        "rules: [{deny: 3}]\nmodel: m\n",
        "sandbox: {mode: yolo}\n",
        "ruls: [{deny: {command: curl}}]\n",
        "mode: : :\n",
        "just words\n",
    ],
)
def test_protective_or_unreadable_settings_are_never_removed_unasked(text: str, tmp_path: Path) -> None:
    (broken,) = find_broken(environment(tmp_path, text))
    assert broken.mended is None
    assert (
        all("ine " in problem for problem in broken.problems) or "`name: value` lines" in broken.problems[0]
    )
    copy = set_aside(broken)
    assert copy.read_text() == text
    assert not (tmp_path / "config.yaml").exists()


def test_secrets_that_are_not_text_are_set_aside(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    (broken,) = find_broken(environment(tmp_path, ""))
    assert broken.path.name == ".env"
    set_aside(broken)
    assert not (tmp_path / ".env").exists()
