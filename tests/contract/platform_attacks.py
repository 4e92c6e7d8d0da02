"""Attacks that chat platforms with a scripted server must withstand: other people's buttons, rate limits, kills."""

from __future__ import annotations

import subprocess
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import msgspec

from hermes_acp.config.environment import environment_of
from hermes_acp.config.sections.gateway_settings import secret_variable
from hermes_acp.frontends.gateway.gateway_process import platform_plugins
from hermes_acp.frontends.gateway.messages import SENT_AGAIN
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.people import People, Person, Role
from tests.contract.platform_suite import ASKING, WAIT_S, WRITE, code_in, connected, running
from tests.e2e.agent_process import COMMAND, agent_environment, configure
from tests.gateway.gateway_stage import make_home
from tests.gateway.scripted_server import Place, ScriptedWorld, until
from tests.model_server import Reply, serve

THREE: dict[str, Role] = {"anna": "approver", "bert": "user", "carl": "user"}
REFUSALS = 4


async def presses_are_checked_like_messages(world: ScriptedWorld, folder: Path) -> None:
    """Press buttons as unauthorised people, then as authorised ones, then again."""
    replies = (Reply(tool_calls=(WRITE,)), Reply("Left as it was."), *ASKING)
    async with (
        serve(replies) as model,
        running(world, folder, model, people=THREE) as stage,
    ):
        await connected(stage)
        place, room = Place(world.room), world.seen_in_room("anna")
        await world.say_in_room("bert", "Write hello")
        first = await world.screen.question(place)
        for name in (
            "eve",
            "mallory",
            "carl",
            "bert",
        ):  # A stranger, a user with Anna's name, a member, the asker.
            await world.press(name, first, "Allow once")
        await world.say_in_room("mallory", f"yes {code_in(first.texts[-1])}")
        await room.see("You cannot answer this question")
        await room.see("still needed")
        assert stage.gateway.questions.count == 1
        await world.press("anna", first, "Refuse")
        await room.see("Left as it was.")
        assert not first.buttons
        await world.repeat()
        await world.press("anna", first, "Allow once", data=first.sent_buttons["Allow once"])
        await room.see("no longer open")
        assert not (stage.project / "a.txt").exists()
        await world.say_in_room("bert", "Write hello again")
        second = await world.screen.question(place)
        await world.press(
            "anna", second, "Allow once", data=first.sent_buttons["Allow once"]
        )  # The first question's button code, pressed on the second question.
        await world.press("bert", second, "Allow once")
        await world.press("anna", second, "Allow once")
        await room.see("Written.")
        assert (stage.project / "a.txt").exists()
        assert "Allow once (anna)" in second.texts[-1]
        assert len(room.texts) == len(world.screen.posts)
        assert not stage.bugs


async def typed_answers_are_checked(world: ScriptedWorld, folder: Path) -> None:
    """Type answers as unauthorised people, then as authorised ones, then again."""
    replies = (Reply(tool_calls=(WRITE,)), Reply("Left as it was."), *ASKING)
    async with (
        serve(replies) as model,
        running(world, folder, model, people=THREE) as stage,
    ):
        await connected(stage)
        place, room = Place(world.room), world.seen_in_room("anna")
        await world.say_in_room("bert", "Write hello")
        first = await world.screen.question(place)
        code = code_in(first.texts[-1])
        for name in (
            "eve",
            "mallory",
            "carl",
            "bert",
        ):  # A stranger, a user with Anna's name, a member, the asker.
            await world.say_in_room(name, f"yes {code}")
        await room.see("You cannot answer this question")
        await room.see("still needed")
        assert stage.gateway.questions.count == 1
        await world.say_in_room("anna", f"no {code}")
        await room.see("Left as it was.")
        await world.repeat()
        assert not (stage.project / "a.txt").exists()
        await world.say_in_room("bert", "Write hello again")
        second = await world.screen.question(place)
        await world.say_in_room("anna", f"yes {code}")  # An old code.
        await room.see("That question is no longer open")
        await world.say_in_room("bert", f"yes {code_in(second.texts[-1])}")
        assert not (stage.project / "a.txt").exists()
        await world.say_in_room("anna", f"yes {code_in(second.texts[-1])}")
        await room.see("Written.")
        assert (stage.project / "a.txt").exists()
        assert not stage.bugs


async def refusals_for_haste_end_with_the_whole_text(world: ScriptedWorld, folder: Path) -> None:
    """Reject several sends in a row because of a rate limit."""
    async with (
        serve((Reply("One. Two. Three."),)) as model,
        running(world, folder, model) as stage,
    ):
        await connected(stage)
        world.faults.refusals, world.faults.refused = REFUSALS, 0
        await world.say("anna", "Count")
        await world.direct("anna").see("One. Two. Three.")
        assert world.faults.refused == REFUSALS
        assert len(world.screen.posts) == 1


async def a_kill_in_a_send_loses_nothing(
    world: ScriptedWorld, folder: Path, *, is_marked: bool = True
) -> None:
    """Kill the gateway before it learns that a message was sent; a repeated message says so, or appears once."""
    home, project = make_home(folder)
    settings = msgspec.to_builtins(world.settings.model_dump())
    section = {"workspace": str(project), "platforms": {world.platform: settings}}
    configure(home, msgspec.json.encode({"gateway": section}).decode())
    async with serve((Reply("Whole answer."),)) as model:
        variables = agent_environment(home, model) | {
            secret_variable(world.platform, name): value for name, value in world.secrets.items()
        }
        admit(Path(environment_of(variables).home), world)
        world.faults.holds, world.faults.held = True, anyio.Event()
        async with gateway_process(variables, folder) as first:
            await world.joined()
            await world.say("anna", "Go")
            with anyio.fail_after(WAIT_S):
                await world.faults.held.wait()
            first.kill()
            await first.wait()
        async with gateway_process(variables, folder):
            if is_marked:
                await world.direct("anna").see(f"{SENT_AGAIN}\nWhole answer.")
            else:
                await until(lambda: any(post.sends == 2 for post in world.screen.posts))
        assert len(model.requests) == 1
        assert len(world.screen.posts) == (2 if is_marked else 1)


def admit(home: Path, world: ScriptedWorld) -> None:
    """Admit Anna."""
    database = GatewayDatabase(home)
    people, now = People(database), time.time()
    code = people.new_code(world.platform, world.id_of("anna"), now)
    assert people.pair(code, Person("anna", "approver", "default"), now).outcome == "admitted"
    database.close()


@asynccontextmanager
async def gateway_process(variables: dict[str, str], folder: Path) -> AsyncGenerator[anyio.abc.Process]:
    """Run the gateway as its command does, and kill it at the end if it is still running."""
    process = await anyio.open_process(
        [COMMAND, "gateway", "run"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None,
        env=variables,
        cwd=folder,
    )
    async with process:
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()


async def withstands_all(world: ScriptedWorld, folder: Path) -> None:
    """Check everything on one server, each check with its own home."""
    limits = platform_plugins().open(world.platform).limits
    answers = presses_are_checked_like_messages if limits.has_buttons else typed_answers_are_checked
    for check in (answers, refusals_for_haste_end_with_the_whole_text):
        place = folder / check.__name__
        place.mkdir()
        await check(world, place)
        world.forget()
    place = folder / "kill"
    place.mkdir()
    await a_kill_in_a_send_loses_nothing(world, place, is_marked=not world.deduplicates)
    world.forget()
