"""Files that contain keys, under any name and by any path: no tool shows them without approval."""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hermes_acp.telemetry.secret_files import MAX_BYTES, secret_in
from tests.attacks.attack_checks import AttackedAgent, attacked_agent, result_of
from tests.attacks.test_secrets_under_attack import everything_written
from tests.contract.test_checkpoints import git
from tests.e2e.raw_editor import permit
from tests.model_server import Reply, ToolCall
from tests.unit.telemetry import secret_samples as samples

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]
ASK = "session/request_permission"
TOKEN = dict(samples.tokens(random.Random(41)))["github token"]
KEY = samples.key_block(random.Random(42)) + "\n"
PLAIN = "words-that-no-pattern-knows"

HOLD_KEYS = {
    "settings of a shell": f"# deploy\nexport REGION=eu\nexport GITHUB_TOKEN={TOKEN}\n",
    "settings in sections": f"[main]\nhost = example.com\n\n[auth]\ntoken = {TOKEN}\n",
    "settings in YAML": f"---\nhost: example.com\nauth:\n  token: {TOKEN}\n",
    "settings in JSON": f'{{\n  "host": "example.com",\n  "token": "{TOKEN}"\n}}\n',
    "one line of JSON": f'{{"type": "service_account", "token": "{TOKEN}"}}',
    "a private key": KEY,
    "a private key with Windows line ends": KEY.replace("\n", "\r\n"),
    "a private key behind a comment": f"# of the server\n{KEY}",
}
ORDINARY = {
    "a program with a key in it": f"def main():\n    return call(\n        '{TOKEN}',\n        retries=3,\n    )\n"
    * 3,
    "a page with a key in it": f"# How to\n\nPut your key where it belongs, and go on from there:\n\n{KEY}\n"
    + "Then restart the server and look at what its log says about that key.\n" * 40,
    "settings without keys": "[main]\nhost = example.com\nport = 80\n",
    "settings with a placeholder": "API_KEY=your-key-here\nREGION=eu\n",
    "a lock file": '{\n  "integrity": "sha512-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYg=="\n}\n',
    "nothing": "",
}


@pytest.mark.parametrize("kind", HOLD_KEYS)
def test_a_file_with_keys_is_recognised_by_its_content(kind: str) -> None:
    assert secret_in(HOLD_KEYS[kind].encode())


@pytest.mark.parametrize("kind", ORDINARY)
def test_an_ordinary_file_is_not_recognised_as_one_with_keys(kind: str) -> None:
    assert not secret_in(ORDINARY[kind].encode())


def test_key_stores_are_recognised_and_large_or_binary_files_are_not_examined() -> None:
    assert secret_in(b"\xfe\xed\xfe\xed\0\0\0\2")
    assert not secret_in(b"TOKEN=" + TOKEN.encode() + b"\0")
    assert not secret_in((f"TOKEN={TOKEN}\n" * (MAX_BYTES // len(TOKEN))).encode())


def questions(siege: AttackedAgent) -> int:
    return sum(message.get("method") == ASK for message in siege.agent.messages)


async def refused(siege: AttackedAgent, calls: Sequence[ToolCall], *, asks: bool = True) -> None:
    """Have the model make these calls one at a time: none reveals anything; each asks, or omits the file."""
    session_id = await siege.agent.open_session(siege.workspace)
    for call in calls:
        before = questions(siege)
        (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
        assert PLAIN not in result_of(end), call
        assert questions(siege) - before == int(asks), (call, result_of(end))


async def test_files_with_keys_need_approval_before_they_are_read(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={ASK: permit("reject_once")}) as siege:
        work, calls = siege.workspace, list[ToolCall]()
        for number, content in enumerate(HOLD_KEYS.values()):
            (work / f"note{number}.txt").write_text(content)
            calls.append(ToolCall("read_file", {"path": f"note{number}.txt"}))
            calls.append(ToolCall("search", {"pattern": ".", "path": f"note{number}.txt"}))
        await refused(siege, calls)
        for number, content in enumerate(ORDINARY.values()):
            (work / f"plain{number}.txt").write_text(content)
        await refused(
            siege,
            [ToolCall("read_file", {"path": f"plain{number}.txt"}) for number in range(len(ORDINARY))],
            asks=False,
        )


async def test_links_to_secrets_and_other_spellings_need_approval(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={ASK: permit("reject_once")}) as siege:
        work = siege.workspace
        (work / ".env").write_text(f"NAME={PLAIN}\n")
        (work / "linked.txt").symlink_to(".env")
        (work / "values.txt").write_text(f"NAME={PLAIN}\n")
        (work / ".env.local").symlink_to("values.txt")
        (work / "keys").symlink_to(".")
        (work / "token.cfg").write_text(f"TOKEN={TOKEN}\n# {PLAIN}\n")
        os.link(work / "token.cfg", work / "twin.txt")
        (work / ".ENV.PROD").write_text(f"NAME={PLAIN}\n")
        names = ("linked.txt", ".env.local", "keys/.env", "./keys/./keys/.env", "twin.txt", ".ENV.PROD")
        await refused(siege, [ToolCall("read_file", {"path": name}) for name in names])
        await refused(siege, [ToolCall("search", {"pattern": "NAME|TOKEN", "path": name}) for name in names])


async def test_a_search_omits_secrets_whatever_ignore_files_say(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={ASK: permit("reject_once")}) as siege:
        work = siege.workspace
        for number in range(1_200):
            (work / f"file{number}.txt").write_text("nothing\n")
        for name in (".env", "zz/.dev.vars", "zz/prod.tfvars", "zz/.aws/config", "zz/kubeconfig"):
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(f"findme {PLAIN}\n")
        (work / "zz/notes.txt").write_text(f"TOKEN={TOKEN}\nREMARK={PLAIN} findme\n")
        for name in (".ignore", ".rgignore", ".gitignore"):
            (work / name).write_text("!.env\n!.dev.vars\n!*.tfvars\n!.aws/\n!kubeconfig\n")
        searches = (
            {"pattern": "findme"},
            {"pattern": "findme", "path": "zz"},
            {"pattern": "findme", "glob": "**/.*"},
        )
        await refused(siege, [ToolCall("search", dict(each)) for each in searches], asks=False)
        assert PLAIN.encode() not in everything_written(siege)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_other_branches_stashes_and_commits_show_no_secrets(tmp_path: Path) -> None:
    work = tmp_path / "workspace"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    (work / "a.txt").write_text("one\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "first")
    git(work, "checkout", "-qb", "other")
    for name in (".env", "deploy/.dev.vars", "client_secret.json", ".envrc"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(f"value {PLAIN}\n")
    (work / "b.txt").write_text("two\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "second")
    (work / ".env").write_text(f"value {PLAIN} stashed\n")
    git(work, "stash")
    git(work, "checkout", "-q", "main")
    async with attacked_agent(tmp_path, cwd=work, answers={ASK: permit("reject_once")}) as siege:
        asked = (
            {"action": "show", "ref": "other"},
            {"action": "show", "ref": "stash@{0}"},
            {"action": "diff", "ref": "main..other"},
            {"action": "diff", "ref": "other"},
            {"action": "log", "ref": "other"},
        )
        await refused(siege, [ToolCall("git", dict(each)) for each in asked], asks=False)
        named = ({"action": "show", "ref": "other:.env"}, {"action": "blame", "ref": "other", "path": ".env"})
        await refused(siege, [ToolCall("git", dict(each)) for each in named])
        (end,) = await siege.turn(Reply(tool_calls=(ToolCall("git", dict(asked[2])),)))
        assert "+two" in result_of(end)
        assert "left out" in result_of(end)
        assert PLAIN.encode() not in everything_written(siege)


async def test_repository_settings_with_a_key_in_an_address_need_approval(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={ASK: permit("reject_once")}) as siege:
        work = siege.workspace
        git(work, "init", "-q")
        git(work, "remote", "add", "origin", f"https://me:{PLAIN}@example.com/x.git")
        calls = (
            ToolCall("read_file", {"path": ".git/config"}),
            ToolCall("search", {"pattern": "url", "path": ".git/config"}),
            ToolCall("search", {"pattern": "url", "path": ".git"}),
        )
        session_id = await siege.agent.open_session(work)
        for call in calls:
            (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
            assert PLAIN not in result_of(end), call
        assert PLAIN.encode() not in everything_written(siege)


async def test_a_script_in_auto_mode_gets_no_secrets_from_tools_without_approval(tmp_path: Path) -> None:
    code = """
for path in (".env", "note.txt", "linked.txt"):
    for call in (lambda: tools.read_file(path=path), lambda: tools.search(pattern=".", path=path)):
        try:
            print("SHOWN", call())
        except ToolError as error:
            print("REFUSED", error)
print(tools.search(pattern="."))
"""
    script = ToolCall("execute_code", {"code": code, "timeout_s": 60})
    asked: list[str] = []

    def answer(params: dict[str, object]) -> object:
        title = str(params["toolCall"])
        asked.append(title)
        return permit("allow_once" if "execute_code" in title or "Run" in title else "reject_once")(params)

    variables = {"PATH": os.defpath}  # A sandbox has the system's Python.
    async with attacked_agent(tmp_path, answers={ASK: answer}, environment=variables) as siege:
        work = siege.workspace
        (work / ".env").write_text(f"NAME={PLAIN}\n")
        (work / "note.txt").write_text(f"TOKEN={TOKEN}\nREMARK={PLAIN}\n")
        (work / "linked.txt").symlink_to(".env")
        session_id = await siege.agent.open_session(work)
        await siege.agent.call("session/set_mode", {"sessionId": session_id, "modeId": "auto"})
        ends = await siege.turn(Reply(tool_calls=(script,)), session_id=session_id)
        (text,) = [result_of(end) for end in ends if "REFUSED" in result_of(end)]
        assert text.count("REFUSED") == 6, text
        assert "SHOWN" not in text
        assert PLAIN.encode() not in everything_written(siege)


@pytest.mark.parametrize("mode", ["accept_edits", "auto"])
async def test_editing_a_file_with_keys_needs_approval_in_every_mode(tmp_path: Path, mode: str) -> None:
    async with attacked_agent(tmp_path, answers={ASK: permit("allow_once")}) as siege:
        work = siege.workspace
        (work / "deploy.cfg").write_text(f"TOKEN={TOKEN}\nREGION=eu\n")
        session_id = await siege.agent.open_session(work)
        await siege.agent.call("session/set_mode", {"sessionId": session_id, "modeId": mode})
        look = ToolCall("read_file", {"path": "deploy.cfg"})
        edit = ToolCall("edit_file", {"path": "deploy.cfg", "old_text": "=eu", "new_text": "=us"})
        made = ToolCall("write_file", {"path": "made.txt", "content": "x\n"})
        await siege.turn(*(Reply(tool_calls=(each,)) for each in (look, edit, made)), session_id=session_id)
        asked = [str(message["params"]) for message in siege.agent.messages if message.get("method") == ASK]
        assert len(asked) == 2
        assert "not covered by undo" in asked[1]
        assert (work / "deploy.cfg").read_text() == f"TOKEN={TOKEN}\nREGION=us\n"
        assert (work / "made.txt").read_text() == "x\n"
