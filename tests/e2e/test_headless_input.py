"""Input piped into `hermes-acp run`, with and without a prompt: real pipes, files and terminals."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, run_command, run_headless
from tests.model_server import Reply, Script, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="pipes are POSIX")]


async def run_on(stdin: int, *arguments: str, environment: Mapping[str, str], cwd: Path) -> tuple[int, str]:
    """Run with a descriptor as standard input; return the exit code and the recorded prompt."""
    with anyio.fail_after(WAIT_S):
        done = await anyio.run_process(
            [COMMAND, "run", *arguments], stdin=stdin, check=False, cwd=cwd, env=dict(environment)
        )
    return done.returncode, done.stderr.decode()


async def test_a_piped_text_is_context_for_the_prompt(home: Path, workspace: Path) -> None:
    log = b"step 1 ok\nstep 2: ZeroDivisionError\n"
    async with serve(Script([Reply("ok")], pick="cycle")) as server:
        environment = agent_environment(home, server)
        for arguments in (("-p", "why does it fail?"), ("why does it fail?",), ("why does it fail?", "-")):
            done = await run_headless(*arguments, environment=environment, cwd=workspace, given=log)
            assert (done.code, done.output) == (0, "ok\n")
            prompt = server.requests[-1].asked.prompt_text
            assert "why does it fail?" in prompt
            assert "stdin:\n```\nstep 1 ok\nstep 2: ZeroDivisionError\n```" in prompt


async def test_a_long_text_is_cut_in_the_middle_with_a_notice(home: Path, workspace: Path) -> None:
    log = b"first line\n" + b"x" * 79 * 10_000 + b"\nlast line\n"
    async with serve([Reply("ok")]) as server:
        environment = agent_environment(home, server)
        done = await run_headless("-p", "summarise", environment=environment, cwd=workspace, given=log)
    assert done.code == 0
    assert "790,022 bytes were piped in; the model sees only the first and the last 131,072." in done.errors
    prompt = server.requests[0].asked.prompt_text
    assert "first line" in prompt
    assert "last line" in prompt
    assert "of 790,022 bytes left out here" in prompt
    assert len(prompt) < 300_000


@pytest.mark.parametrize("arguments", [("-p", "look"), ()], ids=["context", "prompt"])
async def test_a_binary_file_is_rejected(home: Path, workspace: Path, arguments: tuple[str, ...]) -> None:
    async with serve([]) as server:
        environment = agent_environment(home, server)
        picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
        done = await run_headless(*arguments, environment=environment, cwd=workspace, given=picture)
    assert (done.code, done.output) == (2, "")
    assert "Standard input is not text." in done.errors
    assert server.requests == []


async def test_files_and_empty_input_are_read_without_waiting(home: Path, workspace: Path) -> None:
    async with serve(Script([Reply("ok")], pick="cycle")) as server:
        environment = agent_environment(home, server)
        with (workspace / "a.py").open("rb") as file:
            assert (await run_on(file.fileno(), "check", environment=environment, cwd=workspace))[0] == 0
        assert "x = 1" in server.requests[-1].asked.prompt_text
        code, noted = await run_on(subprocess.DEVNULL, "check", environment=environment, cwd=workspace)
    assert code == 0
    assert "standard input" not in noted
    assert "stdin:" not in server.requests[-1].asked.prompt_text


async def test_a_terminal_is_not_read(home: Path, workspace: Path) -> None:
    control, side = os.openpty()
    try:
        async with serve([Reply("ok")]) as server:
            environment = agent_environment(home, server)
            assert (await run_on(side, "go", environment=environment, cwd=workspace))[0] == 0
            code, noted = await run_on(side, environment=environment, cwd=workspace)
    finally:
        os.close(control)
        os.close(side)
    assert (code, "There is no prompt." in noted) == (2, True)


@pytest.mark.slow
async def test_an_open_pipe_without_data_does_not_block_the_run(home: Path, workspace: Path) -> None:
    """CI systems and programs may leave a pipe that nobody writes to and nobody closes."""
    reading, writing = os.pipe()
    try:
        async with serve([Reply("ok")]) as server:
            environment = agent_environment(home, server)
            code, noted = await run_on(reading, "-p", "go", environment=environment, cwd=workspace)
            assert (code, "Nothing arrived on standard input within 3 s" in noted) == (0, True)
    finally:
        os.close(reading)
        os.close(writing)


async def test_the_run_waits_for_a_slow_writer(home: Path, workspace: Path) -> None:
    """Once input has started, its end is awaited."""
    reading, writing = os.pipe()
    ends: list[tuple[int, str]] = []
    async with serve([Reply("ok")]) as server, anyio.create_task_group() as tasks:
        environment = agent_environment(home, server)

        async def run() -> None:
            ends.append(await run_on(reading, "-p", "go", environment=environment, cwd=workspace))
            os.close(reading)

        os.write(writing, b"begin ")
        tasks.start_soon(run)
        while os.get_blocking(writing) and _is_unread(reading):
            await anyio.sleep(0.01)
        os.write(writing, b"end")
        os.close(writing)
    assert ends[0][0] == 0
    assert "begin end" in server.requests[0].asked.prompt_text


def _is_unread(reading: int) -> bool:
    import fcntl
    import struct
    import termios

    return struct.unpack("i", fcntl.ioctl(reading, termios.FIONREAD, b"\0" * 4))[0] > 0


async def test_json_is_printed_whatever_happens(home: Path, workspace: Path) -> None:
    """A program reads one object, which contains the exit code of the process."""
    async with serve([]) as server:
        environment = agent_environment(home, server)
        for arguments, code in (
            (("--output-format", "json", "--no-such-flag"), 2),
            (("--output-format=json", "--mode", "yolo", "go"), 2),
            (("--output-format", "json", "--resume", "no-such", "-p", "go"), 2),
            (("go", "--output-format", "stream-json", "--cwd", "no-such-folder"), 2),
            (("--output-format", "json"), 2),
        ):
            done = await run_headless(*arguments, environment=environment, cwd=workspace)
            assert done.code == code
            assert (done.report["type"], done.report["exit_code"]) == ("result", code)
            assert (done.report["reason"], bool(done.report["error"])) == ("not_started", True)
            assert done.report["error"] in done.errors
    (home / "file").write_text("")
    broken = agent_environment(
        home, HERMES_HOME=str(home / "file"), OPENAI_API_KEY="sk-test", HERMES_MODEL="m"
    )
    done = await run_headless("--output-format", "json", "-p", "go", environment=broken, cwd=workspace)
    assert (done.code, done.report["exit_code"], done.report["reason"]) == (4, 4, "storage_trouble")


async def test_help_and_mistyped_commands(home: Path, workspace: Path) -> None:
    environment = agent_environment(home)
    for arguments, said in (
        (("help",), "COMMAND"),
        (("help", "run"), "--append-system-prompt"),
        (("help", "chat"), "usage: hermes-acp chat"),
        (("help", "sessions", "search"), "--by-meaning"),
    ):
        done = await run_command(*arguments, environment=environment, cwd=workspace)
        assert (done.code, said in done.output) == (0, True)
