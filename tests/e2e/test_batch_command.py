"""`hermes-acp batch` in a terminal: whole files, killed processes, budgets, questions, stops and retries."""

import json
import re
import signal
import subprocess
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, configure, run_command
from tests.e2e.http_serving import serving
from tests.model_server import Fault, Reply, Script, ToolCall, Usage, serve
from tests.model_server.requests import Recorded

pytestmark = pytest.mark.anyio

CONCURRENCY = 4
WRITE = ToolCall("write_file", {"path": "made.txt", "content": "made\n"})
FAST_FAILURE = Reply(fault=Fault(status=400, message="This prompt is not accepted."))


def write_lines(workspace: Path, *lines: Mapping[str, Any]) -> Path:
    file = workspace / "prompts.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def results_in(workspace: Path, name: str = "prompts.results.jsonl") -> Sequence[dict[str, Any]]:
    """Return the complete lines of the results; none may be torn."""
    file = workspace / name
    text = file.read_text() if file.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def answer_to(request: Recorded) -> Reply:
    """Return the prompt as the answer."""
    return Reply(f"About {request.asked.prompt_text.split()[-1]}", usage=Usage(90, 10))


@asynccontextmanager
async def batch_running(
    *flags: str, environment: Mapping[str, str], cwd: Path
) -> AsyncGenerator[anyio.abc.Process]:
    """Start `batch run`; kill it at the end of the block."""
    with anyio.fail_after(WAIT_S):
        process = await anyio.open_process(
            [COMMAND, "batch", "run", "prompts.jsonl", *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd=cwd,
        )
        async with process:
            try:
                yield process
            finally:
                if process.returncode is None:
                    process.kill()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until another process changes a file."""
    with anyio.fail_after(WAIT_S):
        while not is_so():
            await anyio.sleep(0.01)


async def test_every_line_gets_one_result_with_its_usage(home: Path, workspace: Path) -> None:
    (workspace / "sub").mkdir()
    write_lines(
        workspace,
        {"id": "one", "prompt": "say one", "metadata": {"level": 3}},
        {"id": "two", "prompt": "say two", "workspace": "sub", "mode": "plan", "budget": {"max_steps": 3}},
        {"id": "bad", "prompt": "say bad"},
    )

    def choose(request: Recorded) -> Reply:
        return FAST_FAILURE if request.asked.prompt_text.endswith("bad") else answer_to(request)

    async with serve(Script(choose=choose)) as server:
        environment = agent_environment(home, server)
        batch = ("batch", "run", "prompts.jsonl")
        done = await run_command(*batch, environment=environment, cwd=workspace)
        assert done.code == 1, done.errors
        results = {each["id"]: each for each in results_in(workspace)}
        assert [results[line]["status"] for line in ("one", "two", "bad")] == ["done", "done", "failed"]
        assert (results["one"]["answer"], results["one"]["tokens"]) == ("About one", 100)
        assert results["one"]["metadata"] == {"level": 3}
        assert results["one"]["seconds"] > 0
        assert (results["bad"]["failure"], "not accepted" in results["bad"]["error"]) == ("model", True)
        assert "2 done, 1 failed" in done.errors
        sessions = {path.stem for path in (home / ".hermes" / "sessions").glob("*.jsonl")}
        assert sessions == {each["session_id"] for each in results.values()}
        asked = len(server.requests)
        again = await run_command(*batch, environment=environment, cwd=workspace)
        assert (again.code, len(server.requests), len(results_in(workspace))) == (1, asked, 3)
        shown = await run_command(
            "batch", "status", "prompts.jsonl", "--json", environment=environment, cwd=workspace
        )
    status = json.loads(shown.output)
    assert status["counts"] == {
        "done": 2, "failed": 1, "stopped": 0, "running": 0, "interrupted": 0, "waiting": 0, "not_started": 0
    }  # fmt: skip
    assert (status["is_running"], status["lines"]) == (False, 3)
    assert (results["one"]["cost_usd"], status["cost_usd"]) == (None, None), "the price is unknown"
    assert "200 tokens, cost unknown" in done.errors


async def test_a_file_with_errors_starts_nothing_and_names_lines_and_fields(
    home: Path, workspace: Path
) -> None:
    write_lines(
        workspace,
        {"id": "a", "prompt": "x", "budget": {"max_tokens": "many"}},
        {"id": "a", "prompt": "x", "model_name": "m"},
        {"id": "b", "prompt": "x", "workspace": "missing"},
    )
    done = await run_command(
        "batch", "run", "prompts.jsonl", environment=agent_environment(home), cwd=workspace
    )
    assert done.code == 2
    assert "line 1: budget.max_tokens must be a whole number or null, not a text" in done.errors
    assert "line 2: model_name is not a known field" in done.errors
    assert "line 3: workspace" in done.errors
    assert results_in(workspace) == []


async def test_lines_that_changed_after_their_start_are_rejected(home: Path, workspace: Path) -> None:
    async with serve(Script(choose=answer_to)) as server:
        environment = agent_environment(home, server)
        batch = ("batch", "run", "prompts.jsonl")
        write_lines(workspace, {"id": "a", "prompt": "say a"})
        assert (await run_command(*batch, environment=environment, cwd=workspace)).code == 0
        write_lines(workspace, {"id": "a", "prompt": "say z"}, {"id": "b", "prompt": "say b"})
        refused = await run_command(*batch, environment=environment, cwd=workspace)
        assert (refused.code, "have changed since they were started: a." in refused.errors) == (2, True)
        write_lines(workspace, {"id": "a", "prompt": "say a"}, {"id": "b", "prompt": "say b"})
        assert (await run_command(*batch, environment=environment, cwd=workspace)).code == 0
        other = await run_command(
            *batch, "--id", "other", "--out", "prompts.results.jsonl", environment=environment, cwd=workspace
        )
        assert (other.code, "contains results of another batch" in other.errors) == (2, True), other.errors
    assert [each["id"] for each in results_in(workspace)] == ["a", "b"]


async def test_a_question_waits_or_is_declined(home: Path, workspace: Path) -> None:
    write_lines(workspace, {"id": "w", "prompt": "write"}, {"id": "s", "prompt": "say s"})

    def choose(request: Recorded) -> Reply:
        if request.asked.prompt_text.endswith("say s"):
            return answer_to(request)
        return Reply("Then not.") if request.asked.step else Reply("I write.", tool_calls=(WRITE,))

    async with serve(Script(choose=choose)) as server:
        environment = agent_environment(home, server)
        batch = ("batch", "run", "prompts.jsonl")
        waits = await run_command(*batch, environment=environment, cwd=workspace)
        assert (waits.code, "w has a question" in waits.errors) == (5, True), waits.errors
        (run,) = set(re.findall(r"hermes-acp runs show (\S+)", waits.errors))
        assert f"hermes-acp runs answer {run} allow|deny|TEXT. Then run the batch again." in waits.errors
        assert [each["id"] for each in results_in(workspace)] == ["s"]
        declined = await run_command(*batch, "--questions", "decline", environment=environment, cwd=workspace)
        assert declined.code == 0, declined.errors
    assert {each["id"]: each["answer"] for each in results_in(workspace)} == {
        "w": "Then not.",
        "s": "About s",
    }
    assert not (workspace / "made.txt").exists()


async def test_the_budget_of_a_batch_is_not_exceeded_and_failed_lines_are_retried(
    home: Path, workspace: Path
) -> None:
    write_lines(workspace, *({"id": f"n{number}", "prompt": f"say {number}"} for number in range(6)))
    async with serve(Script(choose=answer_to)) as server:
        environment = agent_environment(home, server)
        batch = ("batch", "run", "prompts.jsonl", "--concurrency", "1")
        limited = await run_command(*batch, "--max-tokens", "250", environment=environment, cwd=workspace)
        assert (limited.code, "The budget of the batch is used up: 3 lines not started" in limited.errors) == (
            1, True,
        ), limited.errors  # fmt: skip
        assert len(server.requests) == 3  # The third one starts with 50 tokens left.
        still = await run_command(*batch, environment=environment, cwd=workspace)
        assert (still.code, len(server.requests)) == (1, 3), "the limit was forgotten"
        raised = await run_command(*batch, "--max-tokens", "2000", environment=environment, cwd=workspace)
        assert raised.code == 0, raised.errors
    assert Counter(each["id"] for each in results_in(workspace)) == Counter(f"n{n}" for n in range(6))


async def test_a_stopped_batch_continues_when_it_is_run_again(home: Path, workspace: Path) -> None:
    write_lines(workspace, *({"id": f"n{number}", "prompt": f"say {number}"} for number in range(6)))
    is_slow = True

    def choose(request: Recorded) -> Reply:
        if is_slow and request.asked.prompt_text.split()[-1] == "2":
            return Reply("Too late.", delay_s=300)
        return answer_to(request)

    async with serve(Script(choose=choose)) as server:
        environment = agent_environment(home, server)
        async with batch_running("--concurrency", "1", environment=environment, cwd=workspace) as process:
            await until(lambda: len(server.requests) == 3)
            busy = await run_command("batch", "run", "prompts.jsonl", environment=environment, cwd=workspace)
            assert (busy.code, "Another process works on the batch" in busy.errors) == (75, True), busy.errors
            stop = await run_command("batch", "stop", "prompts.jsonl", environment=environment, cwd=workspace)
            assert stop.code == 0, stop.errors
            assert await process.wait() == 130
        assert [each["status"] for each in results_in(workspace)] == ["done", "done", "stopped"]
        is_slow = False
        batch = ("batch", "run", "prompts.jsonl")
        rest = await run_command(*batch, environment=environment, cwd=workspace)
        assert (rest.code, len(results_in(workspace))) == (1, 6), rest.errors
        retried = await run_command(*batch, "--retry-failed", environment=environment, cwd=workspace)
        assert retried.code == 0, retried.errors
    last = results_in(workspace)[-1]
    assert (last["id"], last["attempt"], last["status"], last["answer"]) == ("n2", 2, "done", "About 2")


async def test_the_lines_of_a_killed_batch_are_interrupted(home: Path, workspace: Path) -> None:
    write_lines(workspace, *({"id": f"n{number}", "prompt": f"say {number}"} for number in range(3)))
    async with serve(Script(choose=lambda _: Reply("Too late.", delay_s=300))) as server:
        environment = agent_environment(home, server)
        status = ("batch", "status", "prompts.jsonl")
        async with batch_running("--concurrency", "2", environment=environment, cwd=workspace) as process:
            await until(lambda: len(server.requests) == 2)
            working = await run_command(*status, environment=environment, cwd=workspace)
            process.kill()
            await process.wait()
        shown = await run_command(*status, environment=environment, cwd=workspace)
        document = await run_command(*status, "--json", environment=environment, cwd=workspace)
    assert "  running  " in working.output
    assert "2 running, 1 not started" in working.output
    assert "  interrupted  " in shown.output
    assert "2 interrupted, 1 not started; 0 tokens\n" in shown.output
    counts = json.loads(document.output)["counts"]
    assert (counts["running"], counts["interrupted"], counts["not_started"]) == (0, 2, 1)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
async def test_a_resumed_interrupted_line_says_so_when_it_is_done(
    home: Path, workspace: Path, number: signal.Signals
) -> None:
    write_lines(workspace, {"id": "whole", "prompt": "say whole"}, {"id": "cut", "prompt": "say cut"})
    is_slow = True

    def choose(request: Recorded) -> Reply:
        if is_slow and request.asked.prompt_text.endswith("cut"):
            return Reply("Too late.", delay_s=300)
        return answer_to(request)

    async with serve(Script(choose=choose)) as server:
        environment = agent_environment(home, server)
        async with batch_running("--concurrency", "1", environment=environment, cwd=workspace) as process:
            await until(lambda: len(server.requests) == 2)
            process.send_signal(number)
            await process.wait()
        is_slow = False
        done = await run_command("batch", "run", "prompts.jsonl", environment=environment, cwd=workspace)
    assert done.code == 0, done.errors
    results = {each["id"]: each for each in results_in(workspace)}
    assert (results["whole"]["status"], results["whole"]["interruptions"]) == ("done", 0)
    assert (results["cut"]["status"], results["cut"]["interruptions"]) == ("done", 1)
    assert "cut  done (interrupted once)  " in done.errors
    assert "2 done, 1 of them interrupted;" in done.errors


@pytest.mark.slow
@pytest.mark.parametrize("has_resident", [False, True])
async def test_a_killed_batch_continues_without_losing_or_repeating_a_line(
    home: Path, workspace: Path, *, has_resident: bool
) -> None:
    number, kills = 40, 3
    configure(home, "allow_bypass: true\nmode: bypass\n")
    write_lines(workspace, *({"id": f"n{each}", "prompt": f"note {each}"} for each in range(number)))

    def choose(request: Recorded) -> Reply:
        (line,) = set(re.findall(r"note (\d+)", json.dumps(request.body["messages"])))
        if '"role": "tool"' in json.dumps(request.body["messages"]):
            return Reply(f"About {line}")
        return Reply("Noted.", tool_calls=(ToolCall("terminal", {"command": f"echo {line} >> log.txt"}),))

    async with serve(Script(choose=choose)) as server:
        environment = agent_environment(home, server)
        async with _resident(environment, home, has_resident=has_resident):
            for kill in range(kills):
                async with batch_running(environment=environment, cwd=workspace) as process:
                    least = (kill + 1) * number // (kills + 2)
                    await until(lambda least=least: whole_lines(workspace) >= least)
                    process.kill()
                    await process.wait()
                with (workspace / "prompts.results.jsonl").open("a") as file:
                    file.write('{"id": "n39", "attempt": 1, "sta')  # As if it had been killed while it wrote.
            done = await run_command("batch", "run", "prompts.jsonl", environment=environment, cwd=workspace)
    assert done.code == 0, done.errors
    results = results_in(workspace)
    assert Counter(each["id"] for each in results) == Counter(f"n{each}" for each in range(number))
    assert {each["answer"] for each in results} == {f"About {each}" for each in range(number)}
    noted = Counter((workspace / "log.txt").read_text().split())
    assert set(noted.values()) == {1}, noted.most_common(3)
    assert len(noted) >= number - CONCURRENCY * kills  # A call interrupted by a kill is not repeated.


def whole_lines(workspace: Path) -> int:
    file = workspace / "prompts.results.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


@asynccontextmanager
async def _resident(
    environment: Mapping[str, str], home: Path, *, has_resident: bool
) -> AsyncGenerator[None]:
    """Have a resident process drive runs, if the test uses one."""
    if not has_resident:
        yield
        return
    async with serving(environment, home / "serving"):
        yield
