"""A terminal that no agent started: tmux's server, which detaches from the processes above it, with a shell in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from hermes_acp.training.caller import look_at_caller
from tests.e2e.agent_process import COMMAND, WAIT_S

CODE = re.compile(r"Type ([0-9a-f]{8}-[a-z]{4})")
PROMPT = "ready$"


def why_there_is_no_person() -> str:
    """Return why a user at a terminal cannot be simulated here, for example when the tests run in an agent's
    command.
    """
    caller = look_at_caller({}, None)
    if caller.is_tagged or caller.is_confined:
        return "the tests run inside an agent's command or a sandbox"
    return "" if shutil.which("tmux") else "there is no tmux"


class PersonTerminal:
    """A user at a shell."""

    def __init__(self, socket: Path, variables: Mapping[str, str], command: str) -> None:
        self._socket = socket
        self._variables = variables
        self._command = command
        self._lines = 0

    def tmux(self, *words: str) -> str:
        """Run a tmux command and return its output."""
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), "-f", "/dev/null", *words],
            env=dict(self._variables),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def screen(self) -> str:
        """Return the terminal's text, with wrapped lines joined."""
        return self.tmux("capture-pane", "-p", "-J", "-S", "-")

    async def type(self, line: str) -> None:
        """Type a line."""
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    async def wait_for(self, words: str, after: int = 0) -> str:
        """Return the terminal's text after its first `after` characters, once it contains some words."""
        with anyio.move_on_after(WAIT_S):
            while words not in self.screen()[after:]:
                await anyio.sleep(0.05)
        shown = self.screen()[after:]
        assert words in shown, shown
        return shown

    async def run(self, line: str, until: str = PROMPT) -> str:
        """Type a line and return the text up to the next prompt or to some words."""
        self._lines += 1
        numbered = f"{line} #{self._lines}"
        await self.type(numbered)
        await self.wait_for(numbered)
        return await self.wait_for(until, after=self.screen().find(numbered) + len(numbered))

    async def train(self, words: str, answer: str | None = None) -> str:
        """Run `hermes-acp train` and type the code that it asks for, or another answer; return the text shown."""
        asked = await self.run(f"{self._command} train {words}", "to ")
        found = CODE.search(asked)
        assert found, asked
        typed = found[1] if answer is None else answer
        await self.type(typed)
        return asked + await self.wait_for(PROMPT, after=self.screen().rfind(typed) + len(typed))


@asynccontextmanager
async def person_terminal(
    folder: Path, variables: Mapping[str, str], command: str = COMMAND
) -> AsyncGenerator[PersonTerminal]:
    """Yield a terminal whose shell has these variables; `command` starts hermes-acp."""
    folder.mkdir(exist_ok=True)
    own = {"PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8", **variables}
    terminal = PersonTerminal(folder / "tmux", own, command)
    terminal.tmux("new-session", "-d", "-x", "200", "-y", "50", "/bin/sh")
    try:
        await terminal.type(f"PS1='{PROMPT} '")
        await terminal.wait_for(f"{PROMPT} \n")
        yield terminal
    finally:
        terminal.tmux("kill-server")
