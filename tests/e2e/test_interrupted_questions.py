"""Ctrl+C and Ctrl+D at the questions that commands ask at a terminal."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import agent_environment, run_command, run_headless
from tests.e2e.test_at_a_terminal import terminal
from tests.model_server import Reply, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX"),
]

END_OF_INPUT = "\x04"
INTERRUPTIONS = 100
WAIT_S = 30
ASKING = """
import anyio
from hermes_acp.frontends.command_line.line_input import is_agreed, read_line

async def work():
    print("Answered:", read_line("Which? "))

for _ in range({count}):
    try:
        anyio.run(work)
    except KeyboardInterrupt:
        print("Interrupted.", flush=True)
print("Agreed:", is_agreed("Sure? "), flush=True)
"""


async def interrupt(*arguments: str, question: str, home: Path) -> str:
    """Run a command, interrupt it at its question, and return everything that was shown."""
    with terminal(*arguments, home=home) as person:
        await person.wait_for(question)
        person.process.send_signal(signal.SIGINT)
        shown = await person.wait_for("never shown")
        assert await person.ended() == 130, shown
    assert "Traceback" not in shown, shown
    assert shown.endswith("\n"), "the shell's prompt starts on a new line"
    return shown


@pytest.mark.parametrize(
    ("arguments", "question"),
    [((), "Your choice"), (("chat",), "[Y/n]"), (("profiles", "remove", "work"), "[y/N]")],
    ids=["start menu", "first chat", "profile"],
)
async def test_an_interrupted_question_ends_the_command(
    tmp_path: Path, arguments: tuple[str, ...], question: str
) -> None:
    environment = agent_environment(tmp_path, None)
    made = await run_command("profiles", "create", "work", environment=environment, cwd=tmp_path)
    assert made.code == 0, made.errors
    await interrupt(*arguments, question=question, home=tmp_path)
    listed = await run_command("profiles", environment=environment, cwd=tmp_path)
    assert "work" in listed.output


async def test_an_interrupted_deletion_keeps_the_session(home: Path, workspace: Path) -> None:
    async with serve([Reply("Hello.")]) as server:
        environment = agent_environment(home, server)
        done = await run_headless(
            "--output-format", "json", "-p", "hi", environment=environment, cwd=workspace
        )
    session = done.report["session_id"]
    await interrupt("sessions", "delete", session, question="[y/N]", home=home)
    with terminal("sessions", "delete", session, home=home) as person:
        await person.wait_for("[y/N]")
        person.type(END_OF_INPUT)
        shown = await person.wait_for("Nothing was deleted")
        assert await person.ended() == 1, shown
    assert "Traceback" not in shown


async def test_a_skill_is_installed_only_after_confirmation(tmp_path: Path) -> None:
    folder = tmp_path / "shop" / "ship"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: ship\ndescription: Release the package.\n---\n\nTag it.\n")
    install = ("skills", "install", str(folder))
    installed = tmp_path / ".hermes" / "skills"
    await interrupt(*install, question="[y/N]", home=tmp_path)
    assert not [*installed.glob("**/SKILL.md")]
    for answer, code in (("n\n", 1), (END_OF_INPUT, 1), ("y\n", 0)):
        with terminal(*install, home=tmp_path) as person:
            await person.wait_for("[y/N]")
            person.type(answer)
            assert await person.ended() == code
    assert [*installed.glob("**/SKILL.md")]


async def test_lines_of_an_open_pipe_answer_one_question_each() -> None:
    asking = (
        "from hermes_acp.frontends.command_line.line_input import read_line\n"
        "print([read_line(''), read_line('')], flush=True)"
    )
    async with await anyio.open_process([sys.executable, "-c", asking]) as process:
        assert process.stdin
        assert process.stdout
        await process.stdin.send(b"first\nsecond\n")
        printed = b""
        with anyio.fail_after(WAIT_S):
            while not printed.endswith(b"\n"):
                printed += await process.stdout.receive()
        assert printed == b"['first', 'second']\n"


async def test_no_interruption_is_lost_in_an_event_loop(tmp_path: Path) -> None:
    asking = ASKING.format(count=INTERRUPTIONS)
    with terminal("-c", asking, home=tmp_path, command=sys.executable) as person:
        for _ in range(INTERRUPTIONS):
            await person.wait_for_next("Which?")
            person.process.send_signal(signal.SIGINT)
            await person.wait_for_next("Interrupted.")
        await person.wait_for_next("Sure?")
        person.type(END_OF_INPUT)
        await person.wait_for_next("Agreed: False")
        assert await person.ended() == 0
