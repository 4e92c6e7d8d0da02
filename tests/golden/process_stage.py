"""A transcript's stage with a real process and a real model server.

Knows: how a header becomes an environment and a workspace. Does not know: what is said.
"""

import json
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, configure
from tests.golden.replay import Stage
from tests.golden.transcript import WITHOUT_SKILLS, Header, Json
from tests.model_server import ModelServer, serve


class ProcessWire:
    """The two pipes of one agent."""

    def __init__(self, process: anyio.abc.Process, server: ModelServer) -> None:
        assert process.stdin
        assert process.stdout
        self._sink, self._source = process.stdin, process.stdout
        self._server = server
        self._read = b""

    async def send(self, line: bytes) -> None:
        """Send one line."""
        await self._sink.send(line)

    async def receive(self) -> Json | None:
        """Take the agent's next frame."""
        while b"\n" not in self._read:
            try:
                self._read += await self._source.receive()
            except anyio.EndOfStream:
                assert self._read == b"", self._read
                return None
        line, _, self._read = self._read.partition(b"\n")
        frame: Json = json.loads(line)
        return frame

    async def list_models(self) -> None:
        """Let the models be listed."""
        self._server.script.gate("models").set()

    async def leave(self) -> None:
        """Close the agent's input, as an editor that quits does."""
        await self._sink.aclose()


def set_stage(place: Path, header: Header, server: ModelServer) -> tuple[Stage, dict[str, str]]:
    """Put everything in its place; give it with the environment of the agent."""
    home, project = place / "home", place / "project"
    home.mkdir()
    project.mkdir()
    configure(home, WITHOUT_SKILLS + header.settings)
    for name, content in header.files.items():
        (project / name).write_text(content, encoding="utf-8")
    variables = agent_environment(home, server, OPENAI_API_KEY="sk-golden", **header.environment)
    return Stage(project, server.openai_base_url), variables


@asynccontextmanager
async def process_stage(place: Path, header: Header) -> AsyncGenerator[tuple[ProcessWire, Stage]]:
    """Start an agent for a transcript; it must end by itself, and well."""
    async with serve(header.replies, holds_models=True) as server:
        stage, variables = set_stage(place, header, server)
        errors = place / "stderr"
        with errors.open("wb") as stderr:
            process = await anyio.open_process(
                [COMMAND], stdin=subprocess.PIPE, stderr=stderr, env=variables, cwd=place
            )
        async with process:
            try:
                yield ProcessWire(process, server), stage
                with anyio.fail_after(WAIT_S):
                    assert (await process.wait(), errors.read_text()) == (0, "")
            finally:
                if process.returncode is None:
                    process.kill()
