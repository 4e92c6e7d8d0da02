"""Secrets that reach the agent through commands, files and servers: nobody sees them."""

from __future__ import annotations

import base64
import json
import random
import sys
from pathlib import Path
from urllib.parse import quote

import anyio
import pytest

from tests.attacks.attack_checks import AttackedAgent, attacked_agent, result_of
from tests.e2e.agent_process import WAIT_S
from tests.e2e.raw_editor import permit
from tests.model_server import Reply, ToolCall
from tests.unit.telemetry import secret_samples as samples

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]
ASK = "session/request_permission"
MASKED = "[secret: github token]"


def everything_written(siege: AttackedAgent) -> bytes:
    """Return everything that reached the editor, the model and the disk below the home."""
    asked = [json.dumps(request.body) for request in (*siege.server.requests, *siege.server.other_requests)]
    said = [json.dumps(message) for message in siege.agent.messages]
    kept = [path.read_bytes() for path in (siege.home / ".hermes").rglob("*") if path.is_file()]
    return b"\n".join(("\n".join((*asked, *said)).encode(), *kept))


def kinds_of_secrets() -> dict[str, str]:
    """Return one secret of each kind."""
    return dict(samples.tokens(random.Random(17)))


def spellings(secret: str) -> list[str]:
    return [
        secret,
        base64.b64encode(secret.encode()).decode(),
        quote(secret, safe=""),
        json.dumps(json.dumps(secret)),
        secret.encode().hex(),
        f"\x1b[31m{secret[:8]}\x1b[0m{secret[8:]}",
    ]


async def test_c05_c06_secrets_of_all_kinds_and_spellings_are_masked_everywhere(tmp_path: Path) -> None:
    secrets = kinds_of_secrets()
    assert len(secrets) >= 30
    async with attacked_agent(tmp_path) as siege:
        lines = [spelled for secret in secrets.values() for spelled in spellings(secret)]
        (siege.workspace / "notes.txt").write_text("\n".join(lines) + "\n")
        script = "import sys\nfor c in open('notes.txt').read():\n    sys.stdout.write(c)\n    sys.stdout.flush()\n"
        (siege.workspace / "drip.py").write_text(script)
        calls = (
            ToolCall("read_file", {"path": "notes.txt"}),
            ToolCall("search", {"pattern": "."}),
            ToolCall("terminal", {"command": "cat notes.txt"}),
            ToolCall("terminal", {"command": f"{sys.executable} drip.py"}),
            ToolCall("terminal", {"command": "cat notes.txt >&2; exit 3"}),
        )
        session_id = await siege.agent.open_session(siege.workspace)
        for call in calls:
            await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
        written = everything_written(siege)
        leaked = [kind for kind, secret in secrets.items() if secret.encode() in written]
        assert len(leaked) <= 0.05 * len(secrets), leaked
        encoded = [
            kind
            for kind, secret in secrets.items()
            if base64.b64encode(secret.encode()).rstrip(b"=")[:-1] in written
        ]
        assert len(encoded) <= 0.05 * len(secrets), encoded


async def test_c06_a_secret_split_across_two_reads_of_a_process(tmp_path: Path) -> None:
    """A running command's output is read when half a secret was printed: nobody sees the second half."""
    secret = kinds_of_secrets()["github token"]
    begun, rest = secret[:14], secret[14:]
    line = f"printf %s {begun}; touch $1.begun; until [ -e $1 ]; do sleep 0.05; done; "
    line += f"echo {rest[:9]}''{rest[9:]}; read go"
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        (siege.workspace / "say.sh").write_text(line + "\n")
        for name, pty in (("p1", False), ("p2", True)):
            call = {"command": f"bash say.sh {name}", "background": True, "pty": pty}
            await siege.call("terminal", call, session_id)
            with anyio.fail_after(WAIT_S):
                while not (siege.workspace / f"{name}.begun").exists():
                    await anyio.sleep(0.02)
            look = {"action": "read", "name": name, "wait_s": 1}
            await siege.call("process", look, session_id)
            (siege.workspace / name).touch()
            with anyio.fail_after(WAIT_S):
                while MASKED not in result_of(await siege.call("process", look, session_id)):
                    pass
            await siege.call("process", {"action": "kill", "name": name}, session_id)
        (siege.workspace / "say.sh").unlink()
        assert rest.encode() not in everything_written(siege)


SECRET_FILES = (
    ".env",
    ".env.local",
    "key.pem",
    "id_rsa",
    ".npmrc",
    ".netrc",
    ".aws/credentials",
    ".ssh/config",
)


async def test_c04_files_with_secrets_are_shown_to_nobody_without_approval(tmp_path: Path) -> None:
    token = "plain-words-that-no-pattern-knows"
    async with attacked_agent(tmp_path, answers={ASK: permit("reject_once")}) as siege:
        work = siege.workspace
        for name in SECRET_FILES:
            (work / name).parent.mkdir(exist_ok=True)
            (work / name).write_text(f"value {token}\n")
        calls = [ToolCall("read_file", {"path": name}) for name in SECRET_FILES]
        calls += [ToolCall("terminal", {"command": f"{program} {name}"}) for name in SECRET_FILES
                  for program in ("cat", "head -1", "grep value")]  # fmt: skip
        calls += [
            ToolCall("search", {"pattern": token[:12]}),
            ToolCall("terminal", {"command": "grep -r value ."}),
            ToolCall("terminal", {"command": "cat .e*"}),
            ToolCall("terminal", {"command": "cat ./.aws/../.env"}),
            ToolCall("terminal", {"command": "cat < .env"}),
        ]
        for call in calls:
            (end,) = await siege.turn(Reply(tool_calls=(call,)))
            assert token not in result_of(end), call
        assert token.encode() not in everything_written(siege)


async def test_c07_our_own_key_is_in_no_childs_environment_and_in_no_file(tmp_path: Path) -> None:
    keys = {
        "OPENAI_API_KEY": "sk-the-key-of-this-agent-itself",
        "ANTHROPIC_API_KEY": "another-key-of-words-alone",
        "MY_DATABASE_PASSWORD": "correct horse battery staple",
    }
    commands = (
        "env",
        "cat /proc/self/environ",
        "cat /proc/$PPID/environ",
        "tr '\\0' '\\n' < /proc/$PPID/environ",
        f'{sys.executable} -c "import os; print(dict(os.environ))"',
        "set; export -p; declare -p",
    )
    async with attacked_agent(tmp_path, environment=keys) as siege:
        for command in commands:
            await siege.call("terminal", {"command": command})
        written = everything_written(siege)
        assert [name for name, key in keys.items() if key.encode() in written] == []


async def test_c08_a_repository_cannot_redirect_a_key(tmp_path: Path) -> None:
    """A repository's addresses and proxies are not settings: every request goes where the user configured."""
    elsewhere = "http://127.0.0.1:9/v1"
    names = (
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "ANTHROPIC_BASE_URL",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    )
    work = tmp_path / "workspace"
    (work / ".hermes").mkdir(parents=True)
    (work / ".env").write_text("".join(f"{name}={elsewhere}\n" for name in names))
    (work / ".hermes" / ".env").write_text("".join(f"{name}={elsewhere}\n" for name in names))
    (work / ".hermes" / "config.yaml").write_text(
        f"base_url: {elsewhere}\nproviders:\n  openai_compatible: {{base_url: '{elsewhere}'}}\n"
    )
    async with attacked_agent(tmp_path, cwd=work) as siege:
        session_id = await siege.agent.open_session(work)
        await siege.check_prompt(session_id)
        assert len(siege.server.requests) >= 1


async def test_c10_stored_decisions_are_readable_only_by_their_owner(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={ASK: permit("allow_workspace")}) as siege:
        work = siege.workspace
        (work / ".hermes").mkdir()
        (work / ".hermes" / "policy.yaml").write_text("rules:\n- allow: {command: make}\n")
        session_id = await siege.agent.open_session(work)
        await siege.check_prompt(session_id)
        await siege.turn(
            Reply(tool_calls=(ToolCall("terminal", {"command": "touch a"}),)), session_id=session_id
        )
        for name in ("trust.json", "permissions.json"):
            assert (tmp_path / ".hermes" / name).stat().st_mode & 0o777 == 0o600
        # While a command runs, and shortly after, an empty folder takes the place of `.mcp.json`.
        assert [path for path in work.rglob("*.json") if path.is_file()] == []
