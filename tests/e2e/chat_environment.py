"""The environment of the chat tests: a home folder, a project with one file, a scripted model."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from msgspec import Struct

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment
from tests.e2e.chat_terminal import COLUMNS, ENTER, Terminal, chat_on_terminal
from tests.model_server import ModelServer, Reply, ToolCall, serve

BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
READ = ToolCall("read_file", {"path": "a.txt"})
EDIT = ToolCall("edit_file", {"path": "a.txt", "old_text": "one\n", "new_text": "ONE\n"})
WRITE = ToolCall(
    "write_file", {"path": "a.txt", "content": BEFORE.replace("one", "ONE").replace("ten", "TEN")}
)
EDITING = (Reply(tool_calls=(READ,)), Reply(tool_calls=(EDIT,)), Reply("All done."))
REWRITING = (Reply(tool_calls=(READ,)), Reply(tool_calls=(WRITE,)), Reply("All done."))


class Place(Struct, frozen=True):
    """A home, a project, and a model for it."""

    home: Path
    project: Path

    def chat(self, server: ModelServer, *arguments: str, columns: int = COLUMNS, **more: str):
        """Run the chat on a terminal."""
        environment = agent_environment(self.home, server, **more)
        return chat_on_terminal(*arguments, environment=environment, cwd=self.project, columns=columns)

    async def piped(
        self, server: ModelServer, given: bytes, *arguments: str, **more: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the chat in a pipe."""
        with anyio.fail_after(WAIT_S):
            return await anyio.run_process(
                [COMMAND, "chat", *arguments],
                input=given,
                env={"LC_ALL": "C.UTF-8", **agent_environment(self.home, server, **more)},
                cwd=self.project,
                check=False,
            )

    @asynccontextmanager
    async def asked_about_an_edit(self, *replies: Reply, editor: str = "") -> AsyncGenerator[Terminal]:
        """Run the chat until the user is asked about an edit."""
        async with serve(replies or EDITING) as server, self.chat(server, EDITOR=editor) as terminal:
            await terminal.see("scripted-large")
            terminal.type(f"change it{ENTER}")
            await terminal.see("Your answer:")
            yield terminal


def make_place(folder: Path) -> Place:
    """Create a chat environment in a folder."""
    home, project = folder / "home", folder / "project"
    home.mkdir()
    project.mkdir()
    (project / "a.txt").write_text(BEFORE)
    return Place(home, project)


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started."""
    found: list[int] = []
    with suppress(FileNotFoundError):  # The process or one of its threads has just ended.
        for thread in list(Path(f"/proc/{pid}/task").iterdir()):
            with suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, (thread / "children").read_text().split())
    return found
