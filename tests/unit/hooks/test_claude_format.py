"""Hooks written for Claude Code and Codex: which are supported, what input they get, and what their output means."""

import json
from pathlib import Path

import pytest

from hermes_acp.config.sections.claude_hooks import foreign_hooks
from hermes_acp.config.sections.hook_settings import HookEvent, HookSettings
from hermes_acp.config.workspace_settings import read_workspace
from hermes_acp.hooks.hook_answers import NOT_JSON, HookAnswer, answer_of
from hermes_acp.hooks.hook_definitions import CallSubject, Hook
from hermes_acp.hooks.hook_requests import encode_request, example_facts
from hermes_acp.workspaces.local_commands import PipedResult


def written(event: str, command: str = "true", **more: object) -> dict[str, object]:
    matcher = {"matcher": more.pop("matcher")} if "matcher" in more else {}
    return {event: [{**matcher, "hooks": [{"type": "command", "command": command, **more}]}]}


def test_a_hook_is_converted_to_ours() -> None:
    hooks = written("PreToolUse", matcher="Bash|Edit|mcp__github__.*", timeout=5)
    (found,) = foreign_hooks("claude", hooks)
    assert (found.name, found.fault) == ("claude-PreToolUse-1", "")
    settings = HookSettings.model_validate(found.settings)
    assert settings.event == "before_tool"
    assert settings.tools == ("terminal", "edit_file", "mcp__github__*")
    assert (settings.timeout_s, settings.format) == (5, "claude")


@pytest.mark.parametrize(
    ("hooks", "fault"),
    [
        (written("PreCompact"), "there is no counterpart to the event PreCompact"),
        (written("PreToolUse", matcher="Bash|Slash.*"), "there is no counterpart to the tool Bash|Slash.*"),
        (written("PreToolUse", type="prompt"), "it does not run a command"),
        (written("PreToolUse", command=""), ""),
    ],
)
def test_unsupported_hooks_are_not_used_in_part(hooks: dict[str, object], fault: str) -> None:
    assert [each.fault for each in foreign_hooks("codex", hooks)] == [fault]


def test_hooks_of_codex_match_every_tool_that_edits(tmp_path: Path) -> None:
    (found,) = foreign_hooks("codex", written("PreToolUse", matcher="^apply_patch$|^mcp__.*"))
    settings = HookSettings.model_validate(found.settings)
    assert settings.tools == ("apply_patch", "edit_file", "write_file", "mcp__*")
    assert settings.timeout_s == 600
    (tmp_path / ".codex").mkdir()
    config = tmp_path / ".codex" / "config.toml"
    config.write_text(
        'model = "gpt"\n[features]\nhooks = true\n[[hooks.PreToolUse]]\nmatcher = "^Bash$"\n'
        '[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "./check.sh"\ntimeout = 30\n'
    )
    (entry,) = read_workspace(str(tmp_path), "/nowhere").hooks
    assert (entry.file, entry.name) == (".codex/config.toml", "codex-config-PreToolUse-1")
    assert (entry.settings.tools, entry.settings.timeout_s) == (("terminal",), 30)
    config.write_text("[[hooks")
    assert read_workspace(str(tmp_path), "/nowhere").notices == (
        ".codex/config.toml is not used: it is not TOML.",
    )


@pytest.mark.parametrize("hooks", [None, [], {"PreToolUse": "x"}, {"PreToolUse": [{"hooks": [1]}]}])
def test_other_values_are_not_hooks(hooks: object) -> None:
    assert list(foreign_hooks("claude", hooks)) == []


def test_a_projects_hooks_need_trust_in_the_scripts_they_name(tmp_path: Path) -> None:
    script = tmp_path / ".claude" / "check.sh"
    script.parent.mkdir()
    script.write_text("exit 0\n")
    command = 'bash "$CLAUDE_PROJECT_DIR"/.claude/check.sh'
    (tmp_path / ".claude" / "settings.json").write_text(
        json.dumps(
            {"hooks": {**written("PreToolUse", command), **written("PreCompact"), **written("Stop", "")}}
        )
    )
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "hooks.json").write_text(json.dumps({"hooks": written("Stop")}))
    found = read_workspace(str(tmp_path), "/nowhere")
    assert [(each.name, each.settings.event) for each in found.hooks] == [
        ("claude-PreToolUse-1", "before_tool"),
        ("codex-Stop-1", "turn_end"),
    ]
    assert found.hooks[0].settings.command == "bash ./.claude/check.sh"
    assert [each.partition(": the hook ")[2][:19] for each in found.notices] == [
        "claude-PreCompact-1",
        "claude-Stop-1 is no",
    ]
    script.write_text("exit 2\n")
    changed = read_workspace(str(tmp_path), "/nowhere")
    assert [each.item == other.item for each, other in zip(found.hooks, changed.hooks, strict=True)] == [
        False,
        True,
    ]


def test_a_call_is_reported_in_their_format() -> None:
    hook = Hook("h", HookSettings(event="after_tool", command="true", format="claude"))
    facts = example_facts("after_tool", CallSubject("write_file", "edit", ("/w/a.py",)))
    reported = json.loads(encode_request(hook, "ses_1", "/w", facts))
    assert (reported["hook_event_name"], reported["tool_name"]) == ("PostToolUse", "Write")
    assert reported["tool_input"] == {"file_path": "/w/a.py"}
    assert reported["tool_response"] == {"output": "Done.", "success": True}
    assert (reported["session_id"], reported["cwd"], reported["permission_mode"]) == (
        "ses_1",
        "/w",
        "default",
    )


DENIED = {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}
ADDED = {"hookSpecificOutput": {"additionalContext": "a note"}}


@pytest.mark.parametrize(
    ("event", "output", "expected"),
    [
        ("before_tool", DENIED, HookAnswer(refusal="no")),
        ("before_tool", {"decision": "block", "reason": "no"}, HookAnswer(refusal="no")),
        ("before_tool", {"continue": False, "stopReason": "no"}, HookAnswer(refusal="no")),
        ("before_tool", {"decision": "approve", "suppressOutput": True}, HookAnswer()),
        ("before_tool", {"hookSpecificOutput": {"permissionDecision": "allow"}}, HookAnswer()),
        ("prompt", ADDED, HookAnswer(context="a note")),
        ("after_tool", {"decision": "block", "reason": "no", **ADDED}, HookAnswer(context="no\na note")),
        ("turn_end", {"decision": "block", "reason": "go on"}, HookAnswer()),
    ],
)
def test_an_answer_has_the_same_meaning_here(
    event: HookEvent, output: dict[str, object], expected: HookAnswer
) -> None:
    assert answer_of(event, PipedResult(json.dumps(output), "", 0), 1.0, "claude") == expected


def test_plain_output_is_for_the_model_only_with_a_prompt_or_a_start() -> None:
    said = PipedResult("a note", "", 0)
    events: tuple[HookEvent, ...] = ("session_start", "prompt", "after_tool")
    assert [answer_of(event, said, 1.0, "claude").context for event in events] == ["a note", "a note", ""]
    assert answer_of("prompt", PipedResult("{x", "", 0), 1.0, "claude").failure == NOT_JSON
    assert answer_of("before_tool", PipedResult("", "no", 2), 1.0, "claude").refusal == "no"
