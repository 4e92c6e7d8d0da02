"""Hooks with real processes: in `hermes-acp run`, and the commands that list, try and check them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agent_process import Finished, agent_environment, configure, run_command, run_headless
from tests.model_server import Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")]
READ = ToolCall("read_file", {"path": "a.py"})
EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x=5"})
EDITS = (Reply("I edit.", tool_calls=(READ, EDIT)), Reply("Edited."))


def hooks(**named: dict[str, Any]) -> str:
    return json.dumps({"hooks": named})


async def test_hooks_of_a_run_format_check_in_the_sandbox_and_notify(home: Path, workspace: Path) -> None:
    ended, outside = home / "ended.json", home / "outside"
    edits = {"event": "after_tool", "tools": ["edit"], "paths": ["*.py"]}
    own = hooks(
        format={**edits, "command": "sed -i 's/x=5/x = 5/' a.py"},
        ended={"event": "turn_end", "command": f"cat > {ended}"},
    )
    (workspace / ".hermes").mkdir()
    (workspace / ".hermes" / "config.yaml").write_text(
        hooks(lint={**edits, "command": f"touch {outside} lint-ran; echo 'line 2: y is unused'"})
    )
    async with serve([*EDITS]) as server:
        environment = agent_environment(home, server)
        configure(home, own)
        flags = ("--mode", "accept_edits", "--trust-workspace", "-p", "edit")
        done = await run_headless(*flags, environment=environment, cwd=workspace)
    assert (done.code, done.output) == (0, "Edited.\n"), done.errors
    assert (workspace / "a.py").read_text() == "x = 5\ny = 2\n"
    assert (workspace / "lint-ran").exists()
    assert not outside.exists()
    told = server.requests[1].asked.last_text
    assert "line 2: y is unused" in told
    assert "a.py after this call. Read it again" in told
    seen = json.loads(ended.read_text())
    assert (seen["event"], seen["reason"], seen["answer"]) == ("turn_end", "done", "Edited.")


async def test_a_projects_hook_for_claude_code_rejects_once_it_is_trusted(
    home: Path, workspace: Path
) -> None:
    command = """touch ran; grep -q '"tool_name":"Edit"' && echo 'edit the template' >&2 && exit 2"""
    group = {"matcher": "Edit", "hooks": [{"type": "command", "command": command}]}
    (workspace / ".claude").mkdir()
    (workspace / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    before = (workspace / "a.py").read_text()
    for flags, has_run in ((), False), (("--trust-workspace",), True):
        (workspace / "a.py").write_text(before)
        async with serve([*EDITS]) as server:
            environment = agent_environment(home, server)
            arguments = ("--mode", "accept_edits", *flags, "-p", "edit")
            done = await run_headless(*arguments, environment=environment, cwd=workspace)
        assert done.code == (5 if has_run else 0), done.errors
        assert (workspace / "ran").exists() is has_run
        assert ((workspace / "a.py").read_text() == before) is has_run
    assert (
        "Refused by the project hook claude-PreToolUse-1: edit the template"
        in server.requests[1].asked.last_text
    )


async def test_hooks_of_other_agents_are_copied_once_and_then_run(home: Path, workspace: Path) -> None:
    person = {"HOME": str(home), "PATH": "/usr/bin:/bin", "HERMES_HOME": str(home / ".hermes")}
    group = {"matcher": "Edit", "hooks": [{"type": "command", "command": "echo 'ask first' >&2; exit 2"}]}
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text(
        json.dumps({"hooks": {"PreToolUse": [group], "PreCompact": [group]}})
    )
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
    )
    configure(home, "# mine\nmode: accept_edits\n")

    async def imported(*flags: str) -> Finished:
        return await run_command("hooks", "import", *flags, environment=person, cwd=workspace)

    refused = await imported()
    assert refused.code == 2
    assert "there is no terminal to ask in" in refused.errors
    done = await imported("--yes")
    assert done.code == 0, done.errors
    assert "PreCompact-1 (" in done.output
    assert "not copied: there is no counterpart to the event PreCompact" in done.output
    assert "2 hooks copied to" in done.output
    settings = (home / ".hermes" / "config.yaml").read_text()
    assert settings.startswith("# mine\nmode: accept_edits\n")
    again = await imported("--yes")
    assert "There are no new hooks to copy." in again.output
    assert (home / ".hermes" / "config.yaml").read_text() == settings
    tried = await run_command("hooks", "test", "before_tool", environment=person, cwd=workspace)
    assert "claude-PreToolUse-1: refuses: ask first" in tried.output


async def test_a_rejected_call_sets_the_exit_code_unless_the_agent_found_an_alternative(
    home: Path, workspace: Path
) -> None:
    other = ToolCall("write_file", {"path": "b.txt", "content": "x = 5\n"})
    gives_up = EDITS
    finds_another = (EDITS[0], Reply("I write.", tool_calls=(other,)), Reply("Written."))
    guard = {"event": "before_tool", "paths": ["*.py"], "tools": ["edit"], "required": True}
    for replies, code, reason in (gives_up, 5, "denied"), (finds_another, 0, "done"):
        async with serve([*replies]) as server:
            environment = agent_environment(home, server)
            configure(home, hooks(guard={**guard, "command": "echo 'edit the template' >&2; exit 2"}))
            arguments = ("--mode", "accept_edits", "--output-format", "json", "-p", "edit")
            done = await run_headless(*arguments, environment=environment, cwd=workspace)
        why = "Refused by the hook guard: edit the template"
        assert (done.code, done.report["reason"]) == (code, reason), done.errors
        assert done.report["refused_calls"] == [{"title": "Edit a.py", "reason": why}]
        assert (why in done.report["error"]) is (code == 5)


async def test_a_rejected_prompt_sets_the_exit_code_and_sends_no_request(home: Path, workspace: Path) -> None:
    async with serve([Reply("Hello.")]) as server:
        environment = agent_environment(home, server)
        configure(home, hooks(no={"event": "prompt", "command": "echo 'not in this folder' >&2; exit 2"}))
        arguments = ("--output-format", "json", "-p", "hi")
        done = await run_headless(*arguments, environment=environment, cwd=workspace)
        assert server.requests == []
    assert done.code == 1
    assert done.report["reason"] == "refused"
    assert "Refused by the hook no: not in this folder" in done.report["error"]


@pytest.mark.slow
async def test_hooks_are_listed_tried_and_checked(home: Path, workspace: Path) -> None:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    configure(
        home,
        hooks(
            guard={
                "event": "before_tool",
                "paths": ["*.py"],
                "command": "grep -q nothing || echo no >&2; exit 2",
            },
            typo={"event": "turn_end", "command": "no-such-program --now"},
            local={"event": "turn_end", "command": "./notify.sh"},
        ),
    )
    (workspace / ".hermes").mkdir()
    (workspace / ".hermes" / "config.yaml").write_text(
        hooks(lint={"event": "after_tool", "command": "touch tried; echo fine"})
    )

    async def said(*words: str, code: int = 0) -> str:
        done = await run_command(*words, environment=environment, cwd=workspace)
        assert done.code == code, done.output + done.errors
        return done.output

    listed = await said("hooks")
    assert "guard (yours)\n  before_tool, for *.py" in listed
    assert "BROKEN: the program 'no-such-program' was not found." in listed
    assert "lint (the project's, in the sandbox): not trusted" in listed
    assert "No hook for after_tool may run here." in await said("hooks", "test", "after_tool")
    assert not (workspace / "tried").exists()
    assert "guard: refuses: " in await said("hooks", "test", "before_tool", "--path", "a.py")
    assert "guard: does not apply" in await said("hooks", "test", "before_tool", "--path", "a.txt")
    assert "FAILED: exit code 127" in await said("hooks", "test", "turn_end", "--name", "typo", code=1)
    await said("trust")
    assert "lint: tells the model:\nfine" in await said("hooks", "test", "after_tool")
    checked = await said("doctor", code=4)
    assert "The hook typo cannot work: the program 'no-such-program' was not found." in checked
    assert "The hook local cannot work: './notify.sh' is a relative path" in checked
    assert "guard" not in checked
