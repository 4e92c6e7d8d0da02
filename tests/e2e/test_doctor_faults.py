"""Every fault that `hermes-acp doctor` detects, caused for real: its finding, and the fix that it names."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import sqlite3
import time
from contextlib import closing
from email.utils import formatdate
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from anyio.abc import SocketAttribute

from tests.e2e.agent_process import COMMAND, agent_environment, configure, run_command

pytestmark = pytest.mark.anyio
MINUTES_BEHIND = 7


async def examined(tmp_path: Path, *flags: str, **variables: str) -> tuple[int, list[dict[str, Any]]]:
    """Run `doctor` and return its exit code and its findings."""
    environment = agent_environment(tmp_path, None, **variables)
    done = await run_command("doctor", "--json", *flags, environment=environment, cwd=tmp_path)
    assert done.errors == ""
    return done.code, json.loads(done.output)["findings"]


def said(findings: list[dict[str, Any]], check: str) -> list[tuple[str, str]]:
    return [
        (each["level"], f"{each['text']} {each['hint']}".strip())
        for each in findings
        if each["check"] == check
    ]


def foreign_environment(folder: Path, name: str) -> Path:
    """Create an environment in which another project's command has our name."""
    (folder / "bin").mkdir(parents=True)
    command = folder / "bin" / "hermes-acp"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    records = folder / "lib" / "python3.11" / "site-packages" / f"{name.replace('-', '_')}-1.0.dist-info"
    records.mkdir(parents=True)
    (records / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (records / "entry_points.txt").write_text("[console_scripts]\nhermes-acp = theirs:main\n")
    return command


async def test_a_new_home_has_no_problems(tmp_path: Path) -> None:
    code, findings = await examined(tmp_path, PATH=f"{Path(COMMAND).parent}:{os.environ['PATH']}")
    assert code == 0
    assert [each for each in findings if each["level"] == "problem"] == []
    assert said(findings, "command")[0][0] == "fine"
    assert "virtual environment" in said(findings, "installation")[0][1] or "editable" in str(findings)


@pytest.mark.parametrize(
    ("name", "level", "words"),
    [
        ("hermes-acp", "problem", "a program from another project (hermes-acp)"),
        ("hermes-acp-server", "note", "another installation"),
        ("", "note", "does not lead to this installation"),
    ],
)
async def test_another_command_with_the_same_name_comes_first(
    tmp_path: Path, name: str, level: str, words: str
) -> None:
    command = foreign_environment(tmp_path / "theirs", name or "other-name")
    if not name:
        shutil.rmtree(tmp_path / "theirs" / "lib")
    code, findings = await examined(tmp_path, PATH=f"{command.parent}:{os.environ['PATH']}")
    ((found, text),) = said(findings, "command")
    assert (found, code) == (level, 4 if level == "problem" else 0)
    assert words in text
    assert f"Put {Path(COMMAND).parent} before it on your PATH" in text


async def test_editors_that_start_another_program(tmp_path: Path) -> None:
    foreign = foreign_environment(tmp_path / "theirs", "hermes-acp")
    zed = tmp_path / ".config" / "zed" / "settings.json"
    zed.parent.mkdir(parents=True)
    zed.write_text('{"agent_servers": {"Hermes": {"command": "/gone/hermes-acp"}}, /* mine */ }')
    jetbrains = tmp_path / ".jetbrains" / "acp.json"
    jetbrains.parent.mkdir()
    jetbrains.write_text(json.dumps({"agent_servers": {"Hermes": {"command": str(foreign)}}}))
    neovim = tmp_path / ".config" / "nvim" / "after" / "plugin" / "hermes-acp.lua"
    neovim.parent.mkdir(parents=True)
    neovim.write_text(f'local command = "{COMMAND}"\n')
    extension = tmp_path / ".config" / "Code" / "User" / "settings.json"
    extension.parent.mkdir(parents=True)
    extension.write_text('{"hermes.server.command": "/gone/too/hermes-acp"}')
    code, findings = await examined(tmp_path)
    texts = said(findings, "editors")
    assert code == 4
    assert ("fine", f"{neovim} starts this installation.") in texts
    assert any(
        level == "problem"
        and f"{zed} starts /gone/hermes-acp, which does not exist." in text
        and "`hermes-acp setup --editor zed`" in text
        for level, text in texts
    )
    assert any(
        level == "note" and f"{jetbrains} starts {foreign}, which is not this" in text
        for level, text in texts
    )
    assert any(level == "problem" and "/gone/too/hermes-acp" in text for level, text in texts)


async def test_a_duplicate_setting(tmp_path: Path) -> None:
    file = configure(tmp_path, "mode: plan\nmemory:\n  enabled: true\nmode: ask\n")
    code, findings = await examined(tmp_path)
    assert code == 0
    assert said(findings, "settings")[-1] == (
        "note",
        f"{file}: `mode` is set in line 1 and again in line 4. Only line 4 counts. "
        "Merge them, or remove one.",
    )


async def test_an_unreadable_settings_file_of_an_editor(tmp_path: Path) -> None:
    zed = tmp_path / ".config" / "zed" / "settings.json"
    zed.parent.mkdir(parents=True)
    zed.write_text('{"agent_servers": ')
    code, findings = await examined(tmp_path)
    assert code == 4
    assert str(zed) in said(findings, "editors")[0][1]


async def test_leftovers_of_a_killed_resident_process(tmp_path: Path) -> None:
    home = tmp_path / ".hermes"
    home.mkdir(mode=0o700)
    with closing(socket.socket(socket.AF_UNIX)) as left:
        left.bind(str(home / "daemon.sock"))
    code, findings = await examined(tmp_path)
    assert code == 0
    ((level, text),) = said(findings, "locks")
    assert (level, "was left by a process that was killed" in text) == ("note", True)


async def test_a_resident_process_that_hangs(tmp_path: Path) -> None:
    home = tmp_path / ".hermes"
    home.mkdir(mode=0o700)
    with (home / "daemon.lock").open("w") as lock, (home / "index.db.lock").open("w") as other:
        lock.write("4711\n")
        lock.flush()
        for held in (lock, other):
            fcntl.flock(held, fcntl.LOCK_EX)
        code, findings = await examined(tmp_path)
    assert code == 4
    (first, second) = said(findings, "locks")
    assert first == (
        "problem",
        "The background process (4711) holds its lock but does not respond. "
        "End it: `kill 4711`, and `kill -9 4711` if it keeps running.",
    )
    assert second[0] == "note"
    assert "index.db.lock" in second[1]


async def test_indexes_in_another_format(tmp_path: Path) -> None:
    home = tmp_path / ".hermes"
    (home / "sessions").mkdir(parents=True, mode=0o700)
    await run_command("sessions", "list", environment=agent_environment(tmp_path), cwd=tmp_path)
    for version, level, words in ((1, "note", "older hermes-acp"), (99, "problem", "newer hermes-acp")):
        with closing(sqlite3.connect(home / "index.db")) as index:
            index.execute(f"PRAGMA user_version = {version}")
        code, findings = await examined(tmp_path)
        assert code == (4 if level == "problem" else 0), findings
        assert any(found == level and words in text for found, text in said(findings, "storage"))


async def test_a_clock_that_is_wrong(tmp_path: Path) -> None:
    async def answer(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            date = formatdate(time.time() + MINUTES_BEHIND * 60, usegmt=True)
            head = f"HTTP/1.1 404 Not Found\r\nDate: {date}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            await stream.send(head.encode())

    code, findings = 0, list[dict[str, Any]]()
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    async with listener, anyio.create_task_group() as tasks:
        port = listener.extra(SocketAttribute.local_port)
        tasks.start_soon(listener.serve, answer)
        configure(
            tmp_path,
            "provider: openai_compatible\nmodel: some\n"
            f"providers: {{openai_compatible: {{base_url: 'http://127.0.0.1:{port}/v1'}}}}\n",
        )
        code, findings = await examined(tmp_path, "--online")
        tasks.cancel_scope.cancel()
    assert code == 4
    ((level, text),) = said(findings, "clock")
    assert level == "problem"
    assert f"clock is {MINUTES_BEHIND} minutes behind that of 127.0.0.1" in text
    assert "Set the clock" in text


async def test_a_disk_without_space(tmp_path: Path) -> None:
    """A file system in memory, in its own namespace, acts as the disk."""
    home = tmp_path / ".hermes"
    home.mkdir(mode=0o700)
    mounted = f'mount -t tmpfs -o size=2m,nr_inodes=5000 none "{home}" && exec "{COMMAND}" doctor --json'
    words = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"]), "sh", "-c", mounted]
    done = await anyio.run_process(words, check=False, env=agent_environment(tmp_path), cwd=tmp_path)
    if b"unshare" in done.stderr or b"mount:" in done.stderr:
        pytest.skip("mounting is not permitted here")
    findings = json.loads(done.stdout)["findings"]
    assert done.returncode == 4, findings
    assert any(
        level == "problem" and f"{home} has only 2 MB free." in text and "Free some space" in text
        for level, text in said(findings, "disk")
    )


async def test_people_read_the_same_findings(tmp_path: Path) -> None:
    foreign = foreign_environment(tmp_path / "theirs", "hermes-acp")
    environment = agent_environment(tmp_path, None, PATH=f"{foreign.parent}:{os.environ['PATH']}")
    done = await run_command("doctor", environment=environment, cwd=tmp_path)
    assert done.code == 4
    assert "PROBLEM  `hermes-acp` on your PATH is " in done.output


@pytest.mark.parametrize(
    ("file", "content", "check", "text", "hint"),
    [
        (
            "config.yaml",
            b"mode: [ask\n",
            "settings",
            "is not YAML: line 2, column 1: did not find expected",
            "setup",
        ),
        (
            "config.yaml",
            b"budget:\n\tmax_steps: 3\n",
            "settings",
            "line 2, column 1: found character",
            "setup",
        ),
        ("config.yaml", b"title: a\nmodel: caf\xe9\n", "settings", "is not UTF-8: line 2.", "setup"),
        ("config.yaml", b"moed: ask\n", "settings", "did you mean `mode`?", "setup"),
        (
            "config.yaml",
            b"mcp_servers: {x: {command: no-such-program}}\n",
            "mcp",
            "there is no program no-such-program.",
            "`mcp_servers.x.command`",
        ),
        (".env", b'GOOD=1\n\nthis is not = a "variable\nFINE=1\n', "keys", "Line 3 of", "NAME=value"),
        (
            "runs.db",
            b"no database",
            "storage",
            "runs.db, which holds runs and schedules, is damaged",
            "Move it away",
        ),
    ],
)
async def test_a_broken_file_is_named_with_the_remedy(
    tmp_path: Path, file: str, content: bytes, check: str, text: str, hint: str
) -> None:
    home = tmp_path / ".hermes"
    home.mkdir(mode=0o700)
    (home / file).write_bytes(content)
    (home / file).chmod(0o600)
    code, findings = await examined(tmp_path)
    (found,) = [each for each in findings if each["level"] == "problem"]
    assert (code, found["check"]) == (4, check)
    assert text in found["text"]
    assert hint in found["hint"]


async def test_a_disabled_mcp_server_needs_no_program(tmp_path: Path) -> None:
    configure(tmp_path, "mcp_servers: {x: {command: no-such-program, enabled: false}}\n")
    assert said((await examined(tmp_path))[1], "mcp") == []


@pytest.mark.parametrize(
    ("variables", "check", "text"),
    [
        ({"HERMES_HOME": "relative/path"}, "settings", "HERMES_HOME is 'relative/path', which"),
        ({"HERMES_PROVIDER": "anthropic"}, "model", "Anthropic needs an API key."),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "telemetry", "names 'zipkin'"),
    ],
)
async def test_an_invalid_variable_is_named_once_with_the_remedy(
    tmp_path: Path, variables: dict[str, str], check: str, text: str
) -> None:
    code, findings = await examined(tmp_path, **variables)
    (found,) = [each for each in findings if each["level"] == "problem"]
    assert (code, found["check"]) == (4, check)
    assert text in found["text"]
    assert "Set " not in found["text"]
    assert found["hint"]
    assert found["hint"].count("hermes-acp setup") <= 1


async def test_a_service_whose_program_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "a venv" / "bin" / "hermes-acp"
    installed = await run_command(
        "service",
        "install",
        "--yes",
        environment=agent_environment(tmp_path, XDG_RUNTIME_DIR=str(tmp_path)),
        cwd=tmp_path,
    )
    assert installed.code == 0, installed.errors
    assert said((await examined(tmp_path))[1], "service") == []
    unit = tmp_path / ".config/systemd/user/hermes-acp.service"
    lines = [
        f'ExecStart="{gone}" daemon run' if line.startswith("ExecStart=") else line
        for line in unit.read_text().splitlines()
    ]
    unit.write_text("\n".join(lines))
    code, findings = await examined(tmp_path)
    assert code == 4
    ((level, text),) = said(findings, "service")
    assert (level, f"starts {gone}, which does not exist." in text) == ("problem", True)
    assert "`hermes-acp service install`" in text


async def test_without_git_the_remedy_is_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    _, findings = await examined(tmp_path, PATH=str(tmp_path / "bin"))
    ((level, text),) = said(findings, "checkpoints")
    assert (level, "Install git" in text) == ("note", True)
