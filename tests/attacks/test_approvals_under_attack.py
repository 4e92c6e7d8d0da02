"""Commands that try to exceed what was allowed, against rules and permanent answers.

Every question is refused, so whatever ran was never asked about and must have had no effect.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.attacks.attack_checks import AttackedAgent, attacked_agent, result_of
from tests.e2e.raw_editor import Message, permit
from tests.model_server import Reply, ToolCall
from tests.unit.policy.test_user_rules import BEYOND, HIDDEN

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]
REFUSE = {"session/request_permission": permit("reject_once")}
ASK = "session/request_permission"


def questions(siege: AttackedAgent) -> list[Message]:
    return [m["params"]["toolCall"] for m in siege.agent.messages if m.get("method") == ASK]


def rules_of(*rules: tuple[str, str]) -> str:
    return "rules:\n" + "".join(f"- {decision}: {{command: {program}}}\n" for decision, program in rules)


async def run_all(siege: AttackedAgent, commands: tuple[str, ...], session_id: str = "") -> list[str]:
    """Have the model make these calls in one turn; return what it was told about each."""
    calls = tuple(ToolCall("terminal", {"command": command}) for command in commands)
    return [result_of(end) for end in await siege.turn(Reply(tool_calls=calls), session_id=session_id)]


def tree_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("program", BEYOND)
async def test_b01_to_b09_an_allowed_program_needs_approval_beyond_its_purpose(
    tmp_path: Path, program: str
) -> None:
    async with attacked_agent(tmp_path, answers=REFUSE, settings=rules_of(("allow", program))) as siege:
        (siege.workspace / "a").write_text("a\n")
        before = tree_of(siege.workspace)
        ends = await run_all(siege, BEYOND[program])
        assert {end.partition(":")[0] for end in ends} == {"failed"}, ends
        assert all("refused" in end or "Not allowed" in end for end in ends), ends
        assert tree_of(siege.workspace) == before


async def test_b10_an_approval_is_for_the_approved_program_only(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    always = {ASK: permit("allow_always")}
    async with attacked_agent(tmp_path, answers=always, environment={"PATH": path}) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        await run_all(siege, ("touch one",), session_id)
        await run_all(siege, ("rm one && touch one",), session_id)
        assert len(questions(siege)) == 2
        await run_all(siege, ("touch one",), session_id)
        assert len(questions(siege)) == 2, "the very same command is remembered"
        (tmp_path / "bin" / "touch").write_text("#!/bin/sh\nexit 0\n")
        (tmp_path / "bin" / "touch").chmod(0o755)
        await run_all(siege, ("touch one",), session_id)
        assert len(questions(siege)) == 3, "another program of that name is another command"


async def test_b11_a_denied_program_is_denied_in_every_form_and_disguise(tmp_path: Path) -> None:
    commands = (*("true && " * count + "curl x > ran" for count in (0, 49, 50, 51, 500)), *HIDDEN)
    async with attacked_agent(tmp_path, settings=rules_of(("deny", "curl"))) as siege:
        ends = await run_all(siege, commands)
        assert all("Not allowed: a rule denies it (line 2 of" in end for end in ends), ends
        assert questions(siege) == []
        assert tree_of(siege.workspace) == set()


DECEIVING = (
    "echo ok" + " " * 4_000 + "; touch ran-tail",
    "echo ok\x1b[2K\x1b[1A; touch ran-erased",
    "echo ok; touch ran-return #\recho ok          ",
    "echo \u202eko hcuot\u202c; touch ran-turned",
    "echo o\u200bk; touch ran-zero",
    "\u0455udo touch ran-lookalike",
)


async def test_b12_a_question_shows_the_whole_command_and_nothing_hidden(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers=REFUSE) as siege:
        await run_all(siege, DECEIVING)
        asked = questions(siege)
        assert len(asked) == len(DECEIVING)
        for question, word in zip(
            asked, ("tail", "erased", "return", "turned", "zero", "lookalike"), strict=True
        ):
            shown = question["content"][0]["content"]["text"]
            assert f"ran-{word}" in shown
            assert shown.isascii()
            assert shown.isprintable()
        offers = [m["params"]["options"] for m in siege.agent.messages if m.get("method") == ASK]
        assert all(len(offer["name"]) < 300 for options in offers for offer in options)
        assert tree_of(siege.workspace) == set()


@pytest.mark.parametrize("scope", ["allow_always", "allow_workspace"])
async def test_b13_an_approval_ends_when_what_it_runs_changes(tmp_path: Path, scope: str) -> None:
    manifest, script = {"name": "x", "scripts": {"test": "true"}}, "#!/bin/sh\ntrue\n"
    async with attacked_agent(tmp_path, answers={ASK: permit(scope)}) as siege:
        work = siege.workspace
        files = {
            "package.json": json.dumps(manifest),
            "Makefile": "all:\n\ttrue\n",
            "run.sh": script,
            "x.py": "pass\n",
        }
        for name, content in files.items():
            (work / name).write_text(content)
        (work / "run.sh").chmod(0o755)
        commands = ("npm test", "make all", "./run.sh", "python3 x.py", "env A=1 sh run.sh")
        session_id = await siege.agent.open_session(work)
        await run_all(siege, commands, session_id)
        assert len(questions(siege)) == len(commands)
        await run_all(siege, commands, session_id)
        assert len(questions(siege)) == len(commands)
        for name, content in files.items():
            (work / name).write_text(f"{content}\n")
        await run_all(siege, commands, session_id)
        assert len(questions(siege)) == 2 * len(commands)


UNREADABLE = (
    "echo 'unbalanced", 'echo "', "echo $(", "git log &&& rm x", "a" * 1_000_000, "true; " * 150_000,
    "$(" * 400, "{" * 5_000, "(" * 20_000, "'" * 99_999, "cat <<A\n" * 300, "a=(" * 2_000, "x=$((" * 3_000,
    "/*/*/*/*/*/*/*/*/*/none-such-file", "echo {a,b}" + "{a,b}" * 40, "[[ a =~ " + "(a*)*" * 200 + " ]]",
)  # fmt: skip


@pytest.mark.slow
async def test_b24_unparsable_commands_need_approval_and_block_nothing(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers=REFUSE) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        for command in UNREADABLE:
            before = len(questions(siege))
            (end,) = await run_all(siege, (command,), session_id)
            assert end.startswith("failed"), end
            assert len(questions(siege)) == before + 1, command[:40]
        end = await siege.call("terminal", {"command": "true\0; touch ran"})
        assert end["status"] == "failed"
        assert tree_of(siege.workspace) == set()


async def test_b25_commands_that_grant_privileges_need_approval_every_time(tmp_path: Path) -> None:
    commands = ("sudo true", "su -c true", "doas true", "pkexec true", "true && sudo -n true")
    settings = "allow_bypass: true\n" + rules_of(*(("allow", each.split()[0]) for each in commands[:4]))
    async with attacked_agent(tmp_path, answers={ASK: permit("reject_once")}, settings=settings) as siege:
        for mode in ("ask", "accept_edits", "auto"):
            session_id = await siege.agent.open_session(siege.workspace)
            await siege.agent.call("session/set_mode", {"sessionId": session_id, "modeId": mode})
            await siege.check_prompt(session_id)  # After it, the model knows the mode.
            before = len(questions(siege))
            await run_all(siege, commands, session_id)
            assert len(questions(siege)) == before + len(commands), mode
        kinds = [
            {option["kind"] for option in m["params"]["options"]}
            for m in siege.agent.messages
            if m.get("method") == ASK
        ]
        assert all(each == {"allow_once", "reject_once"} for each in kinds)


async def test_b20_bypass_mode_cannot_be_enabled_by_accident(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, environment={"HERMES_ALLOW_BYPASS": "1"}) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        for mode in ("bypass", "BYPASS", "yolo", ""):
            reply = await siege.agent.call("session/set_mode", {"sessionId": session_id, "modeId": mode})
            assert "error" in reply
            option = {"sessionId": session_id, "configId": "mode", "value": mode}
            assert "error" in await siege.agent.call("session/set_config_option", option)


async def test_a15_a16_no_indirect_path_reaches_a_protected_folder_without_approval(tmp_path: Path) -> None:
    """In `accept_edits`, with everything allowed for the session before, and folders that do not exist."""
    commands = (
        "mkdir -p .git/hooks",
        "mv prepared .git/hooks",
        "mv prepared/pre-commit .git/hooks/",
        "cp -r prepared .git",
        "ln -s ../prepared .git/hooks",
        "install -D prepared/pre-commit .git/hooks/pre-commit",
        "rsync -a prepared/ .git/hooks/",
        "tee .git/hooks/pre-commit < prepared/pre-commit",
        "cat prepared/pre-commit > .GIT/hooks/pre-commit",
        "mv prepared .vscode",
        "touch .envrc",
        "echo x > AGENTS.md",
        "echo x >> .gitattributes",
        "cp prepared/pre-commit .mcp.json",
    )
    async with attacked_agent(tmp_path, answers=REFUSE) as siege:
        (siege.workspace / "prepared").mkdir()
        (siege.workspace / "prepared" / "pre-commit").write_text("#!/bin/sh\ntouch ran\n")
        session_id = await siege.agent.open_session(siege.workspace)
        await siege.agent.call("session/set_mode", {"sessionId": session_id, "modeId": "accept_edits"})
        await siege.check_prompt(session_id)
        before = tree_of(siege.workspace)
        await run_all(siege, commands, session_id)
        assert len(questions(siege)) == len(commands)
        kinds = [
            {option["kind"] for option in m["params"]["options"]}
            for m in siege.agent.messages
            if m.get("method") == ASK
        ]
        assert all(each == {"allow_once", "reject_once"} for each in kinds)
        assert tree_of(siege.workspace) == before
