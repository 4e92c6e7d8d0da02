"""Before the user's own model is contacted, no outside name is looked up and nothing outside is contacted."""

from __future__ import annotations

import ipaddress
import json
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from tests.e2e.agent_process import agent_environment, run_command
from tests.e2e.raw_editor import RawEditor, editor
from tests.model_server import Reply, serve

pytestmark = pytest.mark.anyio

WATCH = """
import json, os, sys

def watch(log, names):
    def note(event, arguments):
        if event in names:
            told = [part if isinstance(part, (str, int, list, tuple, type(None))) else repr(part) for part in arguments]
            os.write(log, json.dumps([event, told], default=repr).encode() + b"\\n")
    sys.addaudithook(note)

watch(
    os.open(os.environ["AUDIT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600),
    frozenset({
        "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo",
        "socket.connect", "socket.sendto", "socket.sendmsg",
        "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty",
    }),
)
"""
ADDRESS_AT = {
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
    "socket.getnameinfo": 0,
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
}
"""The position of the address in each event; the other recorded events are program starts."""

ASK_OUTSIDE = """
import socket
try:
    socket.getaddrinfo("name.invalid", 443)
except OSError:
    pass
"""


class Audit:
    """Network requests and program starts of the processes in one environment."""

    def __init__(self, folder: Path) -> None:
        site = folder / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(WATCH)
        self.log = folder / "audit.jsonl"
        self.log.touch()
        self.variables = {"PYTHONPATH": str(site), "AUDIT_LOG": str(self.log)}

    def events(self) -> list[tuple[str, list[Any]]]:
        """Return each event with its arguments, in order."""
        return [(name, arguments) for name, arguments in map(json.loads, self.log.read_text().splitlines())]

    def ports(self) -> set[int]:
        """Return the ports that were connected to."""
        return {arguments[1][1] for name, arguments in self.events() if name == "socket.connect"}

    def outside(self) -> list[tuple[str, list[Any]]]:
        """Return the events that reach beyond this machine, and the programs started, which could do so."""
        return [(name, arguments) for name, arguments in self.events() if not is_inside(name, arguments)]


def is_inside(name: str, arguments: list[Any]) -> bool:
    """Return whether an event stays on this machine: a loopback address or a socket file."""
    if name not in ADDRESS_AT:
        return False
    address = arguments[ADDRESS_AT[name]]
    host = str(cast("list[object]", address)[0] if isinstance(address, list) else address)
    if host.startswith("/"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_trial_of_the_sandbox(event: tuple[str, list[Any]]) -> bool:
    """Return whether this was a trial of bubblewrap, with no network and no command but `true`."""
    name, (program, words, *_) = event
    return name == "subprocess.Popen" and program.endswith("/bwrap") and "--unshare-all" in words


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path)


async def converse(one: RawEditor, workspace: Path) -> None:
    """Do what every editor does first, up to the end of the first turn."""
    session_id = await one.open_session(workspace)
    assert (await one.prompt(session_id, "hello"))["result"] == {"stopReason": "end_turn"}
    assert one.said(session_id) == "Hello."
    assert await one.leave() == 0
    assert one.errors == ""


@pytest.mark.parametrize("vendor", ["openai_compatible", "anthropic"])
async def test_from_start_to_first_turn_only_the_model_is_contacted(
    vendor: str, audit: Audit, tmp_path: Path
) -> None:
    async with serve([Reply("Hello.")]) as server:
        environment = agent_environment(tmp_path, server, vendor) | audit.variables
        async with editor(environment, tmp_path) as one:
            await converse(one, tmp_path)
        assert [event for event in audit.outside() if not is_trial_of_the_sandbox(event)] == []
        assert audit.ports() == {server.port}, "the model's own endpoint, and that the watch works"


async def test_without_a_model_no_other_machine_is_contacted(audit: Audit, tmp_path: Path) -> None:
    environment = agent_environment(tmp_path) | audit.variables
    async with editor(environment, tmp_path) as one:
        await one.call("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        assert "result" in await one.call("session/list", {})
        assert await one.leave() == 0
    assert audit.outside() == []


async def test_the_audit_detects_an_outside_name(audit: Audit, tmp_path: Path) -> None:
    environment = agent_environment(tmp_path) | audit.variables
    done = await run_command("-c", ASK_OUTSIDE, environment=environment, cwd=tmp_path, command=sys.executable)
    assert (done.code, done.errors) == (0, "")
    assert [(name, arguments[0]) for name, arguments in audit.outside()] == [
        ("socket.getaddrinfo", "name.invalid")
    ]
