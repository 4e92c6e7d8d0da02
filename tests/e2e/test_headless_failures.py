"""`hermes-acp run` when something outside it fails: the model, the settings, the disk."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import (
    COMMAND,
    VENDORS,
    agent_environment,
    configure,
    mount_disk,
    run_command,
    run_headless,
    unmount,
    unwritable_folder,
)
from tests.model_server import Fault, Reply, Script, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX"),
]

FAST_RETRY = "retry: {first_wait_s: 0.05, longest_wait_s: 0.1, attempts: 3}\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    configure(folder, FAST_RETRY)
    return folder


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "tiny"
    if why := mount_disk(folder, "size=256k,mode=700"):
        pytest.skip(why)
    yield folder
    unmount(folder)


def fill(folder: Path) -> None:
    """Write until the disk is full."""
    with (folder / "filler").open("wb", buffering=0) as filler:
        while os.statvfs(folder).f_bavail:
            filler.write(b"x" * 4096)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429, retry_after_s=0.01),
        Fault(status=500),
        Fault(status=529),
        Fault(cut_after=1),
        Fault(cut_after=1, reset=True),
        Fault(end_after=1),
        Fault(error_after=1),
    ],
    ids=["429", "500", "529", "cut", "reset", "unfinished", "error in the stream"],
)
async def test_a_model_that_keeps_failing_is_retried_visibly_and_given_up(
    home: Path, tmp_path: Path, vendor: str, fault: Fault
) -> None:
    async with serve(Script([Reply("half an answer", deltas=3, fault=fault)], pick="cycle")) as server:
        environment = agent_environment(home, server, vendor)
        done = await run_headless(
            "--output-format", "json", "-p", "go", environment=environment, cwd=tmp_path
        )
    assert (done.code, done.report["reason"]) == (3, "model_trouble"), done.errors
    assert len(server.requests) == 3
    assert done.errors.count("Trying again") == 2
    assert "(3 of 3)" in done.errors
    assert done.report["error"]
    assert "Traceback" not in done.errors


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_rejected_key_is_not_retried_and_never_shown(home: Path, tmp_path: Path, vendor: str) -> None:
    async with serve(Script([Reply(fault=Fault(status=401))], pick="cycle")) as server:
        environment = agent_environment(home, server, vendor)
        done = await run_headless("-p", "go", environment=environment, cwd=tmp_path)
    assert (done.code, done.output) == (3, "")
    assert len(server.requests) == 1
    assert ("ANTHROPIC_API_KEY" if vendor == "anthropic" else "OPENAI_API_KEY") in done.errors
    assert "sk-test" not in done.errors


async def test_a_model_that_recovers_is_no_failure(home: Path, tmp_path: Path) -> None:
    async with serve([Reply(fault=Fault(status=503)), Reply("Back.")]) as server:
        done = await run_headless("-p", "go", environment=agent_environment(home, server), cwd=tmp_path)
    assert (done.code, done.output) == (0, "Back.\n")
    assert done.errors.count("Trying again") == 1


async def test_an_address_that_refuses_connections(home: Path, tmp_path: Path) -> None:
    async with serve([]) as server:
        gone = agent_environment(home, server)
    done = await run_headless("-p", "go", environment=gone, cwd=tmp_path)
    assert (done.code, done.output) == (3, "")
    assert f"127.0.0.1:{server.port}" in done.errors
    assert done.errors.count("Trying again") == 2


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("budget: {max_stepz: 3}\n", "budget.max_stepz"),
        ("mode: yolo\n", "mode"),
        ("retry: {attempts: 99}\n", "retry.attempts"),
        ("provider: [\n", "not YAML"),
        ("- a\n- list\n", "settings"),
        ("providers: {openai_compatible: {base_url: nowhere}}\n", "base_url"),
    ],
)
async def test_an_invalid_setting_exits_with_2_and_names_file_and_setting(
    home: Path, tmp_path: Path, text: str, named: str
) -> None:
    file = configure(home, text)
    async with serve([]) as server:
        done = await run_headless("-p", "go", environment=agent_environment(home, server), cwd=tmp_path)
    assert (done.code, done.output) == (2, "")
    assert str(file) in done.errors
    assert named in done.errors
    assert "Traceback" not in done.errors


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"HERMES_PROVIDER": "acme"}, "HERMES_PROVIDER"),
        ({"OPENAI_BASE_URL": "localhost:1"}, "OPENAI_BASE_URL"),
    ],
)
async def test_an_invalid_variable_exits_with_2_and_is_named(
    home: Path, tmp_path: Path, more: dict[str, str], named: str
) -> None:
    environment = agent_environment(home) | more
    done = await run_headless("-p", "go", environment=environment, cwd=tmp_path)
    assert (done.code, done.output) == (2, "")
    assert named in done.errors


async def test_a_missing_model_exits_with_2_and_says_what_to_set(tmp_path: Path) -> None:
    done = await run_headless("-p", "go", environment=agent_environment(tmp_path), cwd=tmp_path)
    assert (done.code, done.output) == (2, "")
    for name in (
        "hermes-acp setup",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "OPENAI_BASE_URL",
        "HERMES_MODEL",
    ):
        assert name in done.errors


async def test_a_key_in_the_home_folder_is_enough(home: Path, tmp_path: Path) -> None:
    async with serve([Reply("Found.")]) as server:
        (home / ".hermes" / ".env").write_text("OPENAI_API_KEY=sk-test-from-file\n")
        configure(
            home,
            "provider: openai_compatible\nmodel: scripted-small\n"
            f"providers: {{openai_compatible: {{base_url: '{server.openai_base_url}'}}}}\n",
        )
        done = await run_headless("-p", "go", environment=agent_environment(home), cwd=tmp_path)
    assert (done.code, done.output) == (0, "Found.\n")
    assert server.requests[0].headers["authorization"] == "Bearer sk-test-from-file"
    assert server.requests[0].asked.model == "scripted-small"


async def test_a_home_that_is_not_a_folder_exits_with_4(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with serve([Reply("x")]) as server:
        environment = agent_environment(tmp_path, server, HERMES_HOME=str(tmp_path / "file" / "home"))
        done = await run_headless("-p", "go", environment=environment, cwd=tmp_path)
    assert done.code == 4, done.errors
    assert "HERMES_HOME" in done.errors
    assert "Traceback" not in done.errors


async def test_a_home_that_cannot_be_written_exits_with_4(tmp_path: Path) -> None:
    with unwritable_folder(tmp_path / "locked") as locked:
        async with serve([Reply("x")]) as server:
            environment = agent_environment(locked, server)
            done = await run_headless("-p", "go", environment=environment, cwd=tmp_path)
    assert (done.code, done.output) == (4, ""), done.errors
    assert str(locked) in done.errors
    assert "HERMES_HOME" in done.errors
    assert "Traceback" not in done.errors


async def test_a_disk_full_from_the_start_exits_with_4(tiny_disk: Path, tmp_path: Path) -> None:
    fill(tiny_disk)
    async with serve([Reply("x")]) as server:
        environment = agent_environment(tiny_disk, server)
        done = await run_headless("-p", "go", environment=environment, cwd=tmp_path)
    assert done.code == 4, done.errors
    assert "disk is full" in done.errors
    assert "Traceback" not in done.errors


async def test_a_disk_that_fills_up_during_a_turn_exits_with_4(tiny_disk: Path, tmp_path: Path) -> None:
    async with serve([Reply("word " * 100_000, deltas=20)]) as server:
        environment = agent_environment(tiny_disk, server)
        done = await run_headless(
            "--output-format", "json", "-p", "go", environment=environment, cwd=tmp_path
        )
    assert (done.code, done.report["reason"]) == (4, "storage_trouble"), done.errors
    assert "disk is full" in done.report["error"]


async def test_a_full_standard_output_is_named(home: Path, tmp_path: Path) -> None:
    async with serve([Reply("Hello.")]) as server:
        command = [sys.executable, "-m", "hermes_acp", "run", "-p", "hi", "--output-format", "json"]
        with open("/dev/full", "wb") as full:
            with anyio.fail_after(90):
                done = await anyio.run_process(
                    command, stdout=full, check=False, env=agent_environment(home, server), cwd=tmp_path
                )
    assert done.returncode == 4
    assert (
        done.stderr.decode()
        .strip()
        .splitlines()[-1]
        .startswith("hermes-acp: Standard output cannot be written")
    )
    assert "Traceback" not in done.stderr.decode()


async def test_a_relative_home_is_rejected(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HERMES_HOME": "rel/home", "OPENAI_API_KEY": "sk-test"}
    for arguments in ((), ("run", "-p", "hi")):
        with anyio.fail_after(90):
            done = await anyio.run_process(
                [sys.executable, "-m", "hermes_acp", *arguments],
                check=False,
                env=environment,
                cwd=tmp_path,
                input=b"",
            )
        assert done.returncode == 2
        assert "absolute" in done.stderr.decode()
    assert not (tmp_path / "rel").exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
async def test_a_closed_standard_stream_is_reported_in_one_line(
    home: Path, tmp_path: Path, closed: str
) -> None:
    script = f'exec "$0" run -p hello {closed}'
    done = await run_command(
        "-c", script, COMMAND, environment=agent_environment(home), cwd=tmp_path, command="/bin/sh"
    )
    assert done.code == 2
    assert done.errors.startswith("hermes-acp: Standard input or output is closed")
    assert done.errors.count("\n") == 1
