"""`hermes-acp board` and `hermes-acp worker` as a user runs them, with workers and agents killed in between."""

import json
import os
import re
import signal
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import msgspec
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, configure, run_command
from tests.model_server import Hold, Reply, Script, ToolCall, serve
from tests.model_server.requests import Recorded

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(workspace: Path) -> Path:
    for words in (
        ("init", "-q", "--initial-branch=main"),
        ("config", "user.name", "Ann"),
        ("config", "user.email", "ann@example.com"),
        ("commit", "-q", "--allow-empty", "-m", "Begin"),
    ):
        git(workspace, *words)
    return workspace


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


class Terminal:
    """A user's terminal in a project."""

    def __init__(self, environment: dict[str, str], project: Path) -> None:
        self.environment = environment
        self.project = project
        self.log = project

    async def board(self, *words: str, code: int = 0) -> str:
        done = await run_command("board", *words, environment=self.environment, cwd=self.project)
        assert done.code == code, (done.output, done.errors)
        return done.output if code == 0 else done.errors

    async def card(self, card_id: str) -> dict[str, Any]:
        return json.loads(await self.board("show", card_id, "--json"))

    async def reached(self, card_id: str, *states: str) -> dict[str, Any]:
        with anyio.fail_after(WAIT_S):
            while (card := await self.card(card_id))["state"] not in states:
                pass
        return card

    @asynccontextmanager
    async def worker(self, *flags: str) -> AsyncGenerator[anyio.abc.Process]:
        errors = self.log = self.project.parent / f"worker{os.urandom(3).hex()}.log"
        with errors.open("wb") as log:
            process = await anyio.open_process(
                [COMMAND, "worker", *flags], env=self.environment, cwd=self.project, stdout=log, stderr=log
            )
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()
                await process.wait()
                await process.aclose()
        assert "Traceback" not in errors.read_text(), errors.read_text()


def outcomes_in(request: Recorded) -> list[str]:
    messages = msgspec.convert(request.body["messages"], list[dict[str, Any]])
    return [str(each["content"]) for each in messages if each["role"] == "tool"]


WRITE = ToolCall("write_file", {"path": "made.txt", "content": "made\n"})


@pytest.mark.slow
async def test_a_card_from_its_title_to_the_merge(home: Path, project: Path) -> None:
    replies = [Reply("I write.", tool_calls=(WRITE,)), Reply("Made made.txt."), Reply("Better.")]
    async with serve(replies) as server:
        terminal = Terminal(agent_environment(home, server), project)
        assert await terminal.board("add", "Make it", "--text", "Write made.txt") == "Card 1: inbox.\n"
        assert "1  inbox" in await terminal.board("list")
        assert "ready" in await terminal.board("move", "1", "ready")
        async with terminal.worker("--slots", "1"):
            await terminal.reached("1", "input_required")
            shown = await terminal.board("show", "1")
            assert "+made" in shown
            assert "hermes-acp board answer 1 allow|deny" in shown
            await terminal.board("answer", "1", "allow")
            card = await terminal.reached("1", "review")
            assert card["notes"]["result"] == "Made made.txt."
            assert "+made" in await terminal.board("diff", "1")
            await terminal.board("comment", "1", "Looks good.")
            await terminal.board("send-back", "1", "Make it better.")
            with anyio.fail_after(WAIT_S):
                while (await terminal.card("1"))["notes"]["result"] != "Better.":
                    pass
            await terminal.board("approve", "1", "Thanks.")
            done = await terminal.reached("1", "done")
            assert done["notes"]["reason"].startswith("Merged into main")
    assert (project / "made.txt").read_text() == "made\n"
    assert git(project, "log", "--format=%s").split("\n")[:2] == ["Make it", "Begin"]
    assert (
        "No cards."
        in (await run_command("board", "list", environment=terminal.environment, cwd=project)).errors
    )
    assert "Make it" in await terminal.board("list", "--all")


async def test_an_agents_command_approves_no_card_and_answers_no_question(home: Path, project: Path) -> None:
    """Not even in bypass: agents that approve each other's work would leave nothing for a person to review."""
    configure(home, "mode: bypass\nallow_bypass: true\n")
    words = (
        "board approve 1",
        "board move 1 done",
        "board limits --running 9",
        "board delete default",
        "runs answer x allow",
    )
    tries = " ; ".join(f"{COMMAND} {each}" for each in words)
    replies = {
        "One": (Reply("It is done."),),
        "Two": (Reply("I approve.", tool_calls=(ToolCall("terminal", {"command": tries}),)), Reply("Tried.")),
    }

    def choose(request: Recorded) -> Reply:
        first = str(request.body["messages"][1]["content"])
        return replies["Two" if "Two" in first else "One"][len(outcomes_in(request))]

    async with serve(Script(choose=choose)) as server:
        terminal = Terminal(agent_environment(home, server), project)
        await terminal.board("add", "One", "--ready", "--same-folder")
        async with terminal.worker("--slots", "1", "--allow-bypass"):
            await terminal.reached("1", "review")
            await terminal.board("add", "Two", "--ready", "--same-folder")
            await terminal.reached("2", "review")
        (outcome,) = outcomes_in(server.requests[-1])
        assert outcome.count("Only a person can do this") == len(words) - 1, outcome
        assert "cannot move a card to done" in outcome
        assert (await terminal.card("1"))["state"] == "review"
        assert await terminal.board("approve", "1") == "Card 1: done.\n"


async def test_wrong_usage_names_what_is_wrong(home: Path, project: Path) -> None:
    terminal = Terminal(agent_environment(home), project)
    await terminal.board("add", "One")
    await terminal.board("add", "Two", "--blocked-by", "1")
    for words, said in (
        (("show", "9"), "There is no card '9'"),
        (("approve", "1"), "Card 1 is inbox, not in review."),
        (("link", "2", "blocks", "1"), "would close a cycle"),
        (("move", "1", "running"), "must be one of inbox, ready"),
        (("edit", "1"), "Say what to change"),
        (("add", "Three", "--approval", "checks"), "at least one check"),
        (("list", "--board", "none"), "There is no board 'none'."),
        (("answer", "1", "yes"), "is not waiting for an answer"),
        (("limits", "--running", "-1"), "must be a positive number or none"),
    ):
        assert said in await terminal.board(*words, code=2), words
    assert "Tokens:     1,000" in await terminal.board("limits", "--tokens", "1000")
    assert "Tokens:     none" in await terminal.board("limits", "--tokens", "none")
    assert "Removed card 2" in await terminal.board("remove", "2")
    assert "inbox" in await terminal.board("restore", "2")


COUNT = ToolCall("terminal", {"command": "echo once >> log.txt; echo pid $PPID; sleep 2"})


@pytest.mark.slow
async def test_a_card_survives_its_worker_and_its_agent(home: Path, project: Path) -> None:
    """A worker is killed during a command, then the agent's process: the command ran once, and the card is done."""
    configure(home, "allow_bypass: true\n")

    def choose(request: Recorded) -> Reply:
        return Reply("Counted.") if outcomes_in(request) else Reply(tool_calls=(COUNT,))

    async with serve(Script(choose=choose)) as server:
        terminal = Terminal(agent_environment(home, server), project)
        await terminal.board("add", "Count", "--ready", "--mode", "bypass", "--same-folder")
        log = project / "log.txt"
        async with terminal.worker() as worker:
            with anyio.fail_after(WAIT_S):
                while not log.exists():
                    await anyio.sleep(0.05)
            worker.kill()
            await worker.wait()
        async with terminal.worker():
            card = await terminal.reached("1", "review", "parked")
    assert card["state"] == "review", card
    assert log.read_text() == "once\n"
    assert card["attempt"]["number"] == 1


async def test_a_card_whose_agent_is_killed_every_time_is_parked(home: Path, project: Path) -> None:
    async with serve(Script(choose=lambda _: Reply("Thinking.", delay_s=WAIT_S))) as server:
        terminal = Terminal(agent_environment(home, server), project)
        await terminal.board("add", "Die", "--ready")
        async with terminal.worker():
            killed: set[int] = set()
            with anyio.fail_after(WAIT_S):
                while len(killed) < 3:
                    pids = {int(each) for each in re.findall(r"process (\d+)", terminal.log.read_text())}
                    for pid in pids - killed:
                        os.kill(pid, signal.SIGKILL)
                    killed |= pids
                    await anyio.sleep(0.05)
            card = await terminal.reached("1", "parked", "review")
    assert card["state"] == "parked"
    assert "was killed 3 times" in card["notes"]["reason"]


@pytest.mark.slow
async def test_a_worker_that_drains_lets_its_run_end_and_starts_no_other(home: Path, project: Path) -> None:
    gate, reached = anyio.Event(), anyio.Event()
    held = Reply(("One ", "more."), holds=(Hold(gate, after=1, reached=reached),))
    async with serve([held, Reply("Never.")]) as server:
        terminal = Terminal(agent_environment(home, server), project)
        for title in ("One", "Two"):
            await terminal.board("add", title, "--ready", "--same-folder")
        async with terminal.worker("--slots", "1") as worker:
            with anyio.fail_after(WAIT_S):
                await reached.wait()
            worker.send_signal(signal.SIGTERM)
            await anyio.sleep(0.5)
            gate.set()
            with anyio.fail_after(WAIT_S):
                assert await worker.wait() == 0
        cards = [await terminal.card(each) for each in ("1", "2")]
        runs = json.loads(
            (
                await run_command(
                    "runs", "list", "--all", "--json", environment=terminal.environment, cwd=project
                )
            ).output
        )
        assert sorted(each["state"] for each in runs) == ["done", "queued"]
    assert len(server.requests) == 1
    assert {card["state"] for card in cards} <= {"ready", "running", "review"}
