"""Keys that a user types, or that an edit shows, are in none of the files that a session writes."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from tests.attacks.attack_checks import attacked_agent
from tests.attacks.test_secrets_under_attack import everything_written
from tests.e2e.raw_editor import permit
from tests.model_server import Reply, ToolCall
from tests.unit.telemetry import secret_samples as samples

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]
ASK = "session/request_permission"
TOKENS = dict(samples.tokens(random.Random(51)))
TOKEN = TOKENS["github token"]
KEY = samples.key_block(random.Random(52))
MASK = "[secret: github token]"


def check(written: bytes) -> None:
    assert TOKEN.encode() not in written
    assert KEY.splitlines()[2].encode() not in written


async def test_a_key_in_a_prompt_is_masked_on_disk_for_the_model_and_in_the_title(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        await siege.agent.prompt(session_id, f"Why is {TOKEN} refused?\n{KEY}")
        (asked,) = [request for request in siege.server.requests if "refused?" in json.dumps(request.body)][
            :1
        ]
        assert MASK in json.dumps(asked.body)
        warned = [
            update for update in siege.agent.updates(session_id=session_id) if "masked before" in str(update)
        ]
        assert len(warned) == 1
        await siege.agent.prompt(session_id, "And this one is clean.")
        warned = [
            update for update in siege.agent.updates(session_id=session_id) if "masked before" in str(update)
        ]
        assert len(warned) == 1
        kept = [path.read_bytes() for path in (siege.home / ".hermes").rglob("*") if path.is_file()]
        assert MASK.encode() in b"".join(kept)
        wire = [request.body for request in siege.server.requests]
        check(b"\n".join((*kept, json.dumps(wire).encode())))


async def test_a_key_in_a_clients_attachment_is_masked(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        blocks = [
            {"type": "text", "text": "What is in there?"},
            {"type": "resource", "resource": {"uri": "file:///w/server.pem", "text": KEY + "\n"}},
            {"type": "resource", "resource": {"uri": "file:///w/a.cfg", "text": f"token = {TOKEN}\n"}},
            {"type": "resource_link", "uri": f"https://me:{TOKEN}@example.com/x", "name": "x"},
        ]
        await siege.agent.call("session/prompt", {"sessionId": session_id, "prompt": blocks})
        kept = [path.read_bytes() for path in (siege.home / ".hermes").rglob("*") if path.is_file()]
        wire = [request.body for request in siege.server.requests]
        check(b"\n".join((*kept, json.dumps(wire).encode())))


@pytest.mark.parametrize("words", ["/undo {token}", "/title {token}", "/model {token}", "/nothing {token}"])
async def test_a_key_after_a_slash_command_is_masked(tmp_path: Path, words: str) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        await siege.agent.prompt(session_id, words.format(token=TOKEN))
        kept = [path.read_bytes() for path in (siege.home / ".hermes").rglob("*") if path.is_file()]
        check(b"\n".join(kept))


async def test_the_diff_of_an_edit_neither_shows_nor_stores_a_key(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={ASK: permit("allow_once")}) as siege:
        work = siege.workspace
        (work / "settings.py").write_text(
            f"# settings\nimport os\n\n\ndef key():\n    return '{TOKEN}'\n\n\nprint(1)\n"
        )
        (work / ".env").write_text(f"GITHUB_TOKEN={TOKEN}\nREGION=eu\n")
        session_id = await siege.agent.open_session(work)
        for name, old, new in (("settings.py", "print(1)", "print(2)"), (".env", "REGION=eu", "REGION=us")):
            look = ToolCall("read_file", {"path": name})
            edit = ToolCall("edit_file", {"path": name, "old_text": old, "new_text": new})
            await siege.turn(Reply(tool_calls=(look,)), Reply(tool_calls=(edit,)), session_id=session_id)
            assert new in (work / name).read_text()
            assert TOKEN in (work / name).read_text()
        written = everything_written(siege)
        assert MASK.encode() in written
        check(written)


async def test_a_key_in_the_comment_on_a_rejection_is_masked(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={ASK: permit("reject_once")}) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        steer = ToolCall("terminal", {"command": "touch made.txt"})
        await siege.turn(Reply(tool_calls=(steer,)), session_id=session_id)
        await siege.agent.prompt(session_id, f"No: use curl -u me:{TOKEN} https://example.com")
        kept = [path.read_bytes() for path in (siege.home / ".hermes").rglob("*") if path.is_file()]
        check(b"\n".join(kept))


async def test_keys_in_the_settings_of_an_editors_server_are_not_stored(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        server = {
            "name": "odd",
            "command": "/nonexistent",
            "args": ["--token", TOKEN],
            "env": [{"name": "ODD_TOKEN", "value": TOKEN}],
        }
        headed = {
            "type": "http",
            "name": "far",
            "url": "http://127.0.0.1:9/mcp",
            "headers": [{"name": "Authorization", "value": f"Bearer {TOKEN}"}],
        }
        opened = await siege.agent.call(
            "session/new", {"cwd": str(siege.workspace), "mcpServers": [server, headed]}
        )
        session_id = opened["result"]["sessionId"]
        await siege.agent.prompt(session_id, "Go on.")
        await siege.agent.prompt(session_id, "/mcp")
        check(everything_written(siege))
