"""The protocol as a separate package: it can be installed, and its examples talk to each other and to others."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples" / "protocol"
OFFICIAL_LINES = {"agent.py": 125, "client.py": 211, "duet.py": 43, "echo_agent.py": 76, "gemini.py": 394}
"""The examples of the official SDK. Source: github.com/agentclientprotocol/python-sdk, commit 769f5821, examples/."""
OFFICIAL_CLIENT = """
import asyncio, sys
from acp import PROTOCOL_VERSION, Client, spawn_agent_process, text_block

class Listener(Client):
    async def session_update(self, session_id, update, **kwargs):
        print(update.content.text, update.field_meta, update.content.field_meta)

async def main():
    async with spawn_agent_process(Listener(), *sys.argv[1:]) as (agent, _):
        greeting = await agent.initialize(protocol_version=PROTOCOL_VERSION)
        session = await agent.new_session(mcp_servers=[], cwd="/")
        answer = await agent.prompt(session_id=session.session_id, prompt=[text_block("hello")])
        print(greeting.protocol_version, answer.stop_reason)

asyncio.run(main())
"""
OFFICIAL_AGENT = """
import asyncio
from acp import Agent, InitializeResponse, NewSessionResponse, PromptResponse, run_agent, text_block
from acp import update_agent_message

class Echo(Agent):
    def on_connect(self, conn):
        self.client = conn

    async def initialize(self, protocol_version, **kwargs):
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd, **kwargs):
        return NewSessionResponse(session_id="s")

    async def prompt(self, prompt, session_id, **kwargs):
        for block in prompt:
            await self.client.session_update(session_id, update_agent_message(text_block(block.text)))
        return PromptResponse(stop_reason="end_turn")

asyncio.run(run_agent(Echo()))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the installed package."""
    place = tmp_path_factory.mktemp("protocol")
    build = (
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        str(place),
        str(ROOT / "protocol"),
    )
    subprocess.run(build, check=True, timeout=180, capture_output=True)
    [wheel] = place.glob("hermes_protocol-*.whl")
    folder = place / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(command: Sequence[str], installed: Path, said: str = "", cwd: Path = EXAMPLES) -> str:
    """Run a program with the installed package, and return its output."""
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{installed}{os.pathsep}{EXAMPLES}",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        command, input=said, env=variables, cwd=cwd, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_has_its_modules_types_and_readme_and_no_part_of_the_agent(installed: Path) -> None:
    names = {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()}
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {
        "hermes_protocol",
        "hermes_acp_client",
    }
    assert {f"{package}/py.typed" for package in ("hermes_protocol", "hermes_acp_client")} <= names
    [metadata] = installed.glob("*.dist-info/METADATA")
    assert "Coming from `agent-client-protocol`" in metadata.read_text(encoding="utf-8")
    where = "import hermes_protocol, hermes_acp_client; print(hermes_protocol.__file__, hermes_acp_client.__file__)"
    assert run([sys.executable, "-c", where], installed).count(str(installed)) == 2


@pytest.mark.parametrize("agent", ["echo_agent.py", "agent.py"])
def test_the_client_talks_to_the_agents(agent: str, installed: Path) -> None:
    said = run([sys.executable, "client.py", agent], installed, "hello\nworld\n")
    lines = said.replace("> ", "").splitlines()
    assert [line for line in lines if line != "| Agent: Client sent:"] == ["| Agent: hello", "| Agent: world"]


def test_the_duet_example(installed: Path) -> None:
    said = run([sys.executable, "duet.py"], installed, "hello\n")
    assert said.splitlines()[:2] == ["> | Agent: Client sent:", "| Agent: hello"]


def test_a_client_of_the_official_sdk_talks_to_the_echo_agent(installed: Path) -> None:
    said = run([sys.executable, "-c", OFFICIAL_CLIENT, sys.executable, "echo_agent.py"], installed)
    assert said.splitlines() == ["hello {'echo': True} {'echo': True}", "1 end_turn"]


def test_the_client_talks_to_an_agent_of_the_official_sdk(installed: Path, tmp_path: Path) -> None:
    agent = tmp_path / "official.py"
    agent.write_text(OFFICIAL_AGENT, encoding="utf-8")
    assert "| Agent: hello" in run([sys.executable, "client.py", str(agent)], installed, "hello\n")


@pytest.mark.parametrize(("flags", "answers"), [(["--yolo"], ""), ([], "7\n1\n")])
def test_the_client_for_gemini_answers_questions_and_serves_files(
    flags: list[str], answers: str, installed: Path, tmp_path: Path
) -> None:
    gemini, file = tmp_path / "gemini", tmp_path / "a.txt"
    gemini.write_text(
        f"#!/bin/sh\nexec {sys.executable} {ROOT / 'tests/e2e/protocol_agent.py'}\n", encoding="utf-8"
    )
    gemini.chmod(0o755)
    file.write_text("what it holds", encoding="utf-8")
    command = [sys.executable, str(EXAMPLES / "gemini.py"), "--gemini", str(gemini), *flags]
    said = run(command, installed, f"{file}\n{answers}:exit\n", tmp_path)
    for line in (
        " - PENDING    Read",
        "🔧 Read it (pending)",
        "🔧 Tool call `c` → completed",
        "what it holds",
    ):
        assert line in said
    assert ("Invalid selection" in said) == bool(answers)


def test_the_examples_are_at_most_half_as_long_as_the_official_ones() -> None:
    lines = {name: len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) for name in OFFICIAL_LINES}
    assert {name: count for name, count in lines.items() if 2 * count > OFFICIAL_LINES[name]} == {}


def test_the_readme_prints_the_examples() -> None:
    readme = (ROOT / "protocol" / "README.md").read_text(encoding="utf-8")
    code = (EXAMPLES / "echo_agent.py").read_text(encoding="utf-8")
    assert code.partition('"""\n\n')[2].strip() in readme
