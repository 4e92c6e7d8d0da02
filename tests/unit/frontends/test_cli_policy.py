"""The output of `hermes-acp policy`, for people and for scripts; docs/policy.md names every field."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.frontends.cli.policy.policy_check import PolicyAnswer, answer_line, check_lines
from hermes_acp.frontends.cli.policy.policy_command import add_policy
from hermes_acp.policy.policy_engine import Policy
from tests.architecture.sources import ROOT
from tests.unit.test_documents import names

DOCUMENT = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_command(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def answered(line: str, tmp_path: Path) -> dict[str, Any]:
    policy = Policy(str(tmp_path / "home"), "/home/me", ("/usr/bin",))
    return json.loads(
        msgspec.json.encode(answer_line(line.encode(), policy, str(tmp_path), "ask", "bubblewrap"))
    )


def test_a_file_name_that_is_not_text_is_answered_too(tmp_path: Path) -> None:
    (tmp_path / "a\udce9.txt").touch()
    answer = answered('{"id": 1, "cmd": "cat *.txt > /elsewhere"}', tmp_path)
    assert any("\\udce9" in path for effect in answer["effects"] for path in effect["reads"])


BAD_LINES = (
    "{",
    "[]",
    "null",
    '{"id": 4}',
    '{"id": 4, "cmd": 5}',
    '{"id": 4, "cmd": ""}',
    '{"id": 4, "cmd": "a\\u0000"}',
)


@pytest.mark.parametrize("line", BAD_LINES)
def test_an_invalid_line_is_answered_and_not_allowed(tmp_path: Path, line: str) -> None:
    answer = answered(line, tmp_path)
    assert (answer["decision"], answer["effects"]) == ("ask", [])
    assert answer["why"]
    assert answer["id"] == (4 if '"id"' in line else None)


def test_lines_are_answered_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (
        b'{"id": "a", "cmd": "ls"}',
        b"nonsense",
        b"",
        b'{"id": 2, "cmd": "rm -rf /"}',
        b'{"id": null, "cmd": "make"}',
        b"\xff",
    )
    policy = Policy(str(tmp_path / "home"), "/home/me", ("/usr/bin",))
    code = check_lines(lines, policy, str(tmp_path), "ask", "bubblewrap")
    out, err = capsys.readouterr()
    answers = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [(answer["id"], answer["decision"]) for answer in answers] == [
        ("a", "allow"), (None, "ask"), (2, "deny"), (None, "ask"), (None, "ask"),
    ]  # fmt: skip
    assert answers[2]["effects"][0]["program"] == "rm"


def test_explain_shows_steps_paths_and_the_scope_of_always(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("policy", "explain", "npm test > out.txt; curl https://x.example")
    assert code == 0
    assert out.startswith("ask: You are asked before it runs.")
    assert f"writes {tmp_path}/project/out.txt" in out
    assert "connects to x.example" in out
    assert '"Always" would remember' not in out
    always = '"Always" would remember exactly this command, until what it runs changes.'
    assert always in run("policy", "explain", "python3 x.py")[1]
    assert "`npm test …`" in run("policy", "explain", "npm test")[1]
    Path("run.sh").write_text("true\n")
    assert run("policy", "explain", "./run.sh")[1].count("depends on") == 1
    assert run("policy", "explain", "ls\x1b[2K")[1].count("\x1b") == 0
    assert run("policy", "explain", " ")[0] == 2
    assert "runs without asking" in run("policy", "explain", "ls", "--mode", "plan")[1]


def test_both_say_which_sandbox_they_assume(run: Run, tmp_path: Path) -> None:
    out = run("policy", "explain", "git log | head")[1]
    assert out.startswith(
        "allow: It runs without asking. It runs in the sandbox, with the workspace read-only."
    )
    assert "Checked for the sandbox of this machine (bubblewrap)." in out
    answer = answered('{"id": 1, "cmd": "git log | head"}', tmp_path)
    assert (answer["sandbox"], answer["confinement"]) == ("bubblewrap", "read_only")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").write_text("sandbox:\n  mode: off\n")
    out = run("policy", "explain", "git log | head")[1]
    assert out.startswith("ask: ")
    assert "Checked without a sandbox: The sandbox is turned off in the settings." in out
    assert run("policy", "explain", "ls -la")[1].startswith("allow: It runs without asking.\n")


def test_the_document_names_every_command_and_field() -> None:
    parser = argparse.ArgumentParser()
    add_policy(parser)
    choices: dict[str, argparse.ArgumentParser] = {}
    for action in vars(parser)["_actions"]:
        choices |= action.choices or {}
    cells = [line.strip("|").split(" | ") for line in DOCUMENT.splitlines() if line.startswith("| `")]
    first = [names(cell[0])[0] for cell in cells]
    assert {f"policy {name}" for name in choices} <= set(first)
    assert set(msgspec.structs.asdict(PolicyAnswer(1, "ask", [], ""))) <= set(first)
    assert {
        "program",
        "command",
        "reads",
        "writes",
        "deletes",
        "hosts",
        "ask",
        "accept_edits",
        "plan",
        "auto",
    } <= set(first)
