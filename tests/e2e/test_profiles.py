"""Profiles as people use them: every command accepts the flag, and a missing profile is explained."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import COMMAND, Finished, agent_environment, run_command
from tests.e2e.chat_environment import Place
from tests.e2e.chat_terminal import CTRL_D, ENTER
from tests.e2e.raw_editor import editor
from tests.model_server import Reply, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]
STARTS = (
    (),
    ("acp",),
    ("chat", "hi"),
    ("lsp",),
    ("run", "-p", "hi"),
    ("serve",),
    ("sessions", "list"),
    ("doctor",),
    ("daemon", "run"),
)


async def test_a_missing_profile_is_explained_by_every_command(place: Place) -> None:
    variables = agent_environment(place.home)
    (place.home / ".hermes" / "profiles" / "work").mkdir(parents=True)
    ends: dict[tuple[str, ...], Finished] = {}

    async def start(*words: str) -> None:
        ends[words] = await run_command(*words, "--profile", "wrk", environment=variables, cwd=place.project)

    async with anyio.create_task_group() as tasks:
        for words in STARTS:
            tasks.start_soon(start, *words)
    said = "There is no profile 'wrk'. Did you mean work? To create it: `hermes-acp profiles create wrk`."
    doctor = ends.pop(("doctor",))
    assert (doctor.code, said in doctor.output) == (4, True)
    assert {words: (end.code, said in end.errors) for words, end in ends.items()} == dict.fromkeys(
        (words for words in STARTS if words != ("doctor",)), (2, True)
    )


async def test_an_editor_and_a_chat_use_the_named_profile(place: Place, tmp_path: Path) -> None:
    async with serve([Reply("In the editor."), Reply("In the chat.")]) as server:
        variables = agent_environment(place.home, server)
        await run_command("profiles", "create", "work", environment=variables, cwd=place.project)
        command = (COMMAND, "--profile", "work")
        async with editor(variables, tmp_path / "scratch", command=command) as agent:
            session = await agent.open_session(place.project)
            await agent.prompt(session, "hello from work")
            assert await agent.leave() == 0
        async with place.chat(server, "--profile", "work") as terminal:
            # Where the line wraps depends on the length of the folder's path.
            await terminal.until(
                lambda: "profile work /help" in " ".join(terminal.text.split()), "the profile in the greeting"
            )
            await terminal.see("scripted-large")
            terminal.type(f"hello again{ENTER}")
            await terminal.see("In the chat.")
            terminal.type(CTRL_D)
            assert await terminal.end() == 0

        async def sessions(*flags: str) -> int:
            done = await run_command(
                "sessions", "list", "--json", *flags, environment=variables, cwd=place.project
            )
            return len(json.loads(done.output))

        assert (await sessions("--profile", "work"), await sessions()) == (2, 0)
        doctor = await run_command("--profile", "work", "doctor", environment=variables, cwd=place.project)
        assert "This is the profile work." in doctor.output
