"""Notifications about runs on chat platforms: notices, questions whose answers count, and no message twice."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import msgspec

from hermes_acp.notifications.delivery_ledger import DeliveryLedger
from tests.contract.platform_suite import ASKING, WAIT_S, PlatformWorld, code_in, connected, running
from tests.e2e.agent_process import agent_environment, configure, run_command
from tests.e2e.resident_process import resident
from tests.gateway.gateway_stage import make_home
from tests.model_server import Reply, serve


def targets_of(world: PlatformWorld, **events: list[str]) -> str:
    """Return settings with one target for Anna and one for the room."""
    places = {"anna": "anna", "team": f"{world.platform}:{world.room}"}
    targets = {
        name: {"service": "gateway", "to": places[name], "events": each} for name, each in events.items()
    }
    return msgspec.json.encode({"notifications": {"targets": targets}}).decode()


async def run_state(run: str, environment: dict[str, str], cwd: Path, state: str) -> None:
    """Wait until a run is in a state."""
    with anyio.fail_after(WAIT_S):
        while True:
            shown = await run_command("runs", "show", run, "--json", environment=environment, cwd=cwd)
            if json.loads(shown.output)["state"] == state:
                return


async def a_person_is_asked_what_a_run_waits_for(world: PlatformWorld, folder: Path) -> None:
    """Report to a room that a run is done, after asking Anna; somebody else's answer does not count."""
    config = targets_of(world, anna=["input_required"], team=["done"])
    async with (
        serve((Reply("Hello anna."), *ASKING, Reply("Hello bert."))) as model,
        running(world, folder, model, config=config) as stage,
    ):
        environment = agent_environment(stage.home, model)
        async with resident(environment, stage.project):
            await connected(stage)
            await world.say("anna", "Hello")
            await world.direct("anna").see("Hello anna.")
            started = await run_command(
                "runs", "start", "Write it", environment=environment, cwd=stage.project
            )
            run = started.output.split()[0]
            await world.direct("anna").see(f"hermes-acp runs answer {run}")
            code = code_in(await world.direct("anna").see("no answer means no"))
            await world.say_in_room("anna", f"yes {code}")  # The right person in the wrong place.
            await world.say("eve", f"yes {code}")
            await world.say("anna", "yes AAAAA")
            await world.direct("anna").see("No open question here has that code")
            assert not (stage.project / "a.txt").exists()
            await world.say("anna", f"yes {code}")
            await world.seen_in_room("bert").see("hermes-acp: Done: Write it")
            assert (stage.project / "a.txt").read_text() == "hello\n"
            shown = await run_command("notifications", environment=environment, cwd=stage.project)
            assert shown.output.count("delivered") == 2, shown.output


async def a_room_asks_its_approvers(world: PlatformWorld, folder: Path) -> None:
    """Ask in a room: only an approver's answer counts, and an answer given elsewhere closes the question."""
    config = targets_of(world, team=["input_required"])
    replies = (*ASKING, *ASKING)
    async with serve(replies) as model, running(world, folder, model, config=config) as stage:
        environment = agent_environment(stage.home, model)
        async with resident(environment, stage.project):
            await connected(stage)
            start = ("runs", "start", "Write it")
            await run_command(*start, environment=environment, cwd=stage.project)
            code = code_in(await world.seen_in_room("bert").see("no answer means no"))
            await world.say_in_room("eve", f"yes {code}")
            await world.say_in_room("bert", f"yes {code}")
            await world.seen_in_room("bert").see("You cannot answer this question")
            assert not (stage.project / "a.txt").exists()
            await world.say_in_room("anna", f"no {code}")
            await world.seen_in_room("bert").see("Refuse (anna)")
            world.forget()
            again = await run_command(*start, environment=environment, cwd=stage.project)
            run = again.output.split()[0]
            await world.seen_in_room("bert").see("no answer means no")
            await run_command("runs", "answer", run, "allow", environment=environment, cwd=stage.project)
            await world.seen_in_room("bert").see("no longer open")
            await run_state(run, environment, stage.project, "done")


async def a_killed_process_sends_nothing_twice(world: PlatformWorld, folder: Path) -> None:
    """Kill the resident process while the gateway is down; later, the message arrives once."""
    home, project = make_home(folder)
    config = targets_of(world, team=["done"])
    configure(home, config)
    async with serve((Reply("Ended."),)) as model:
        environment = agent_environment(home, model)
        ledger = DeliveryLedger(home / ".hermes")
        async with resident(environment, project) as first:
            await run_command("runs", "start", "End", environment=environment, cwd=project)
            with anyio.fail_after(WAIT_S):
                while not any(each.state == "attempting" for each in ledger.deliveries()):
                    await anyio.sleep(0.05)
            first.process.kill()
            await first.wait()
        with closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection:
            connection.execute("UPDATE deliveries SET due_at = 0")  # The killed attempt counts as abandoned.
        async with running(world, folder, model, config=config) as stage, resident(environment, project):
            await connected(stage)
            await world.seen_in_room("bert").see("hermes-acp: Done: End")
            with anyio.fail_after(WAIT_S):
                while ledger.deliveries()[0].state != "delivered":
                    await anyio.sleep(0.05)
            said = "\n".join(world.seen_in_room("bert").texts.values())
            assert said.count("hermes-acp: Done: End") == 1, said


NOTICES = (
    a_person_is_asked_what_a_run_waits_for,
    a_room_asks_its_approvers,
    a_killed_process_sends_nothing_twice,
)


async def delivers_all(world: PlatformWorld, folder: Path) -> None:
    """Check everything on one server, each check with its own home."""
    for check in NOTICES:
        place = folder / check.__name__
        place.mkdir()
        await check(world, place)
        world.forget()
