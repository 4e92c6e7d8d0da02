"""The choices that flags of `hermes-acp run` make for one run: model, effort, session, folders, permissions."""

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.agent_process import agent_environment, configure, run_command, run_headless
from tests.model_server import ModelServer, Reply, Script, ToolCall, serve
from tests.model_server.requests import Recorded

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="commands are POSIX")]


def asked(server: ModelServer) -> list[Recorded]:
    """Return the generation requests."""
    return [request for request in server.requests if request.asked.model]


async def test_a_prompt_is_an_argument_and_the_session_is_named(home: Path, workspace: Path) -> None:
    async with serve([Reply("Yes.")]) as server:
        environment = agent_environment(home, server)
        done = await run_headless("really", "this?", environment=environment, cwd=workspace)
    (record,) = (home / ".hermes" / "sessions").glob("*.jsonl")
    assert (done.code, done.output) == (0, "Yes.\n")
    assert done.errors == f"Session ID: {record.stem}; resume with: hermes-acp run --resume {record.stem}\n"
    assert "really this?" in asked(server)[0].asked.prompt_text


@pytest.mark.slow
async def test_a_model_and_its_effort_are_chosen_for_the_session(home: Path, workspace: Path) -> None:
    script = Script([Reply("ok")], pick="cycle")
    async with serve(script, models=("scripted-large", "scripted-small")) as server:
        environment = agent_environment(home, server)
        flags = ("--model", "scripted-small", "--effort", "high", "--session", "s1")
        done = await run_headless(*flags, "one", environment=environment, cwd=workspace)
        assert (done.code, asked(server)[0].asked.model) == (0, "scripted-small"), done.errors
        assert "high" in json.dumps(asked(server)[0].body)
        done = await run_headless("--continue", "two", environment=environment, cwd=workspace)
        assert (done.code, asked(server)[1].asked.model) == (0, "scripted-small"), done.errors
        assert "one" in json.dumps(asked(server)[1].body)
        done = await run_headless("--model", "scripted-samll", "x", environment=environment, cwd=workspace)
    assert (done.code, done.output) == (2, "")
    assert "lists no model 'scripted-samll'. Did you mean scripted-small" in done.errors
    assert len(asked(server)) == 2


async def test_continue_without_a_session_is_an_error(home: Path, workspace: Path) -> None:
    async with serve([]) as server:
        environment = agent_environment(home, server)
        done = await run_headless("-c", "go", environment=environment, cwd=workspace)
    assert (done.code, f"There is no session in {workspace} to continue." in done.errors) == (2, True)


async def test_another_folder_and_an_addition_to_the_system_prompt(home: Path, workspace: Path) -> None:
    other = home / "other"
    other.mkdir()
    (other / "notes.txt").write_text("kettle\n")
    read = ToolCall("read_file", {"path": str(other / "notes.txt")})
    async with serve([Reply(tool_calls=(read,)), Reply("Done.")]) as server:
        flags = ("--add-dir", str(other), "--append-system-prompt", "Answer in Latin.")
        environment = agent_environment(home, server)
        done = await run_headless(*flags, "look", environment=environment, cwd=workspace)
    assert (done.code, done.output) == (0, "Done.\n"), done.errors
    first, second = asked(server)
    assert "Answer in Latin." in json.dumps(first.body)
    assert "kettle" in second.asked.last_text


EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})
READ = ToolCall("read_file", {"path": "a.py"})
MAKE = ToolCall("terminal", {"command": "env echo made > made.txt"})


@pytest.mark.slow
async def test_permissions_for_a_run_apply_to_no_other(home: Path, workspace: Path) -> None:
    replies = (Reply(tool_calls=(READ, EDIT)), Reply(tool_calls=(MAKE,)), Reply("Done."))
    for flags, code, text, is_made in (
        (("--allow", "edit", "--allow", "bash(env echo *)"), 0, "x = 5\ny = 2\n", True),
        (("--allow", "edit"), 5, "x = 5\ny = 2\n", False),
        ((), 5, "x = 1\ny = 2\n", False),
    ):
        (workspace / "a.py").write_text("x = 1\ny = 2\n")
        (workspace / "made.txt").unlink(missing_ok=True)
        async with serve(replies) as server:
            environment = agent_environment(home, server)
            done = await run_headless(*flags, "go", environment=environment, cwd=workspace)
        assert (done.code, (workspace / "a.py").read_text()) == (code, text), done.errors
        assert (workspace / "made.txt").exists() == is_made
    listed = await run_command("policy", "list", environment=environment, cwd=workspace)
    assert "There are no permanent answers." in listed.output + listed.errors


async def test_a_deny_rule_takes_precedence_over_permissions_for_a_run(home: Path, workspace: Path) -> None:
    configure(home, "rules: [{deny: {command: env}}]\n")
    async with serve([Reply(tool_calls=(MAKE,)), Reply("Done.")]) as server:
        environment = agent_environment(home, server)
        flags = ("--allow", "bash(env echo *)")
        done = await run_headless(*flags, "go", environment=environment, cwd=workspace)
    assert not (workspace / "made.txt").exists(), done.errors


async def test_a_run_that_times_out_says_so_once(home: Path, workspace: Path) -> None:
    slow = ToolCall("terminal", {"command": "sleep 60"})
    async with serve([Reply(tool_calls=(slow,))]) as server:
        flags = ("--mode", "auto", "--timeout", "2", "go")
        environment = agent_environment(home, server)
        done = await run_headless(*flags, environment=environment, cwd=workspace)
    assert done.code == 124
    assert done.errors.count("Stopped after 2 s") == 1
