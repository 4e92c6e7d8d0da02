"""The `rules:` setting, and messages about mistakes in it."""

from pathlib import Path

import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.config.settings import Settings, load_settings
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.policy_rules import Rule


def load(text: str, tmp_path: Path) -> Settings:
    (tmp_path / "config.yaml").write_text(text)
    return load_settings(environment_of({"HERMES_HOME": str(tmp_path)}))


def test_every_kind_of_rule(tmp_path: Path) -> None:
    text = """
model: a
rules:
  - deny: {command: curl}
  - allow: {command: "git commit *"}
  - allow:
      tool: write_file
      path: "docs/**"
      access: write

  - ask: {host: "*.example"}
  - deny: {tool: browser}
  - allow: {command: [npm, run, build]}
"""
    rules = [rule.rule("f", is_users=True) for rule in load(text, tmp_path).rules]
    assert rules == [
        Rule("deny", command=("curl",), source="line 4 of f"),
        Rule("allow", command=("git", "commit"), source="line 5 of f"),
        Rule("allow", tool="write_file", path="docs/**", access="write", source="line 6 of f"),
        Rule("ask", host="*.example", source="line 11 of f"),
        Rule("deny", tool="browser", source="line 12 of f"),
        Rule("allow", command=("npm", "run", "build"), source="line 13 of f"),
    ]


def test_flags_do_not_change_the_rules(tmp_path: Path) -> None:
    rules = load("rules:\n  - deny: {command: curl}\n", tmp_path).rules
    settings = load_settings(environment_of({"HERMES_HOME": str(tmp_path)}), {"budget.max_steps": 3})
    assert (settings.rules, settings.budget.max_steps) == (rules, 3)


MISTAKES = (
    "- curl",
    "- deny: curl",
    "- deny: {}",
    "- deny: {command: ''}",
    "- deny: {command: 'a | b'}",
    '- deny: {command: "a \'b"}',
    "- deny: {command: '*'}",
    "- deny: {command: [1]}",
    "- deny: {program: curl}",
    "- {deny: {command: a}, allow: {command: b}}",
    "- deny: {command: a, path: b}",
    "- allow: {access: read}",
    "- allow: {path: a, access: run}",
    "- allow: {command: a, access: read}",
    "- never: {command: a}",
    "- allow: {path: 5}",
    "- allow: {1: 5}",
)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_reported_with_its_line(tmp_path: Path, mistake: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(f"model: a\nrules:\n- allow: {{command: make}}\n{mistake}\n", tmp_path)
    assert "line 4: " in caught.value.sentence()


def test_rules_that_are_not_a_list(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="rules"):
        load("rules: {deny: curl}\n", tmp_path)


def test_bypass_must_be_allowed_explicitly(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="allow_bypass"):
        load("mode: bypass\n", tmp_path)
    assert load("mode: bypass\nallow_bypass: true\n", tmp_path).mode == "bypass"
    assert load("questions:\n  timeout_s: 30\n", tmp_path).questions.timeout_s == 30
