"""A gateway that is killed at any moment loses nothing, and marks whatever it may have sent twice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.frontends.gateway.messages import SENT_AGAIN
from hermes_acp.frontends.gateway.port.platform_port import IncomingMessage, Place
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.people import People, Person
from tests.e2e.agent_process import WAIT_S, agent_environment
from tests.e2e.resident_process import resident
from tests.gateway.gateway_stage import PLATFORM, make_home
from tests.model_server import Recorded, Reply, serve

pytestmark = pytest.mark.anyio
TURNS = 3
WORDS = 60


async def test_kills_lose_nothing_and_resent_messages_are_marked(tmp_path: Path) -> None:
    await kill_often(tmp_path, kills=5)


@pytest.mark.slow
async def test_many_kills_lose_nothing(tmp_path: Path) -> None:
    await kill_often(tmp_path, kills=int(os.environ.get("HERMES_TEST_KILLS", "8")))


async def kill_often(folder: Path, kills: int) -> None:
    """Kill a gateway while it answers, then let it finish; check what people saw."""
    home, project = make_home(folder)
    chance = random.Random(kills)
    turns = max(TURNS, kills // 4)
    async with serve(answer) as model:
        variables = agent_environment(home, model)
        admit(Path(environment_of(variables).home))
        async with resident(variables, project):
            for number in range(turns):
                send(folder, number)
            for _ in range(kills):
                process = await start(folder, variables)
                await anyio.sleep(chance.uniform(0.3, 1.2))
                process.kill()
                await process.wait()
            last = await start(folder, variables)
            with anyio.fail_after(WAIT_S + kills):
                while not is_complete(folder, turns):
                    await anyio.sleep(0.1)
            last.kill()
            await last.wait()
    assert asked_of(model.requests) == [f"turn {number}" for number in range(turns)]
    check(folder, turns)


def answer(request: Recorded) -> Reply:
    """Return an answer whose words name the turn."""
    number = request.asked.prompt_text.rpartition("turn ")[2].strip()
    return Reply(tuple(f"t{number}w{word} " for word in range(WORDS)), delay_s=0.005)


def asked_of(requests: list[Recorded]) -> list[str]:
    """Return the prompts in order, each once."""
    return list(dict.fromkeys(request.asked.prompt_text.strip() for request in requests))


def admit(home: Path) -> None:
    """Admit Anna."""
    database = GatewayDatabase(home)
    people, now = People(database), time.time()
    people.pair(people.new_code(PLATFORM, "@anna:here", now), Person("anna", "approver", "default"), now)
    database.close()


def send(folder: Path, number: int) -> None:
    """Send a message to the agent."""
    message = IncomingMessage(f"i{number}", Place("!dm", is_direct=True), "@anna:here", f"turn {number}")
    with (folder / "sent.jsonl").open("ab") as file:
        file.write(msgspec.json.encode(message) + b"\n")


async def start(folder: Path, variables: dict[str, str]) -> anyio.abc.Process:
    """Start a gateway."""
    environment = {**variables, "PYTHONPATH": os.pathsep.join(sys.path)}
    return await anyio.open_process(
        [sys.executable, "-m", "tests.gateway.process_script", str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None,
        env=environment,
    )


def posts(folder: Path) -> list[dict[str, Any]]:
    """Return what people saw, in order."""
    path = folder / "posts.jsonl"
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [msgspec.json.decode(line) for line in lines]


def is_complete(folder: Path, turns: int) -> bool:
    """Return whether the last word of every turn was shown."""
    said = " ".join(post["text"] for post in posts(folder))
    return all(f"t{number}w{WORDS - 1}" in said for number in range(turns))


def check(folder: Path, turns: int) -> None:
    """Check that each message finally has its whole text, and that each resent message says so."""
    last: dict[str, str] = {}
    said: set[str] = set()
    for post in posts(folder):
        if not post["isEdit"]:
            assert post["id"] not in said or post["text"].startswith(SENT_AGAIN), post
            said.add(post["id"])
        last[post["id"]] = post["text"]
    whole = " ".join(text.removeprefix(SENT_AGAIN).strip() for text in last.values())
    wanted = [f"t{number}w{word}" for number in range(turns) for word in range(WORDS)]
    assert sorted(whole.split()) == sorted(wanted)
