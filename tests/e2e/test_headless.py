"""`hermes-acp run` in scripts and CI: every flag, every format, every exit code except those of failures.

Failures are covered in test_headless_failures.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.abc
import pytest

from tests.e2e.agent_process import (
    COMMAND,
    SLEEPER,
    VENDORS,
    WAIT_S,
    agent_environment,
    configure,
    headless_running,
    pid_in,
    run_command,
    run_headless,
    wait_for_end,
    watch_process,
)
from tests.model_server import Fault, Hold, Reply, Rule, Script, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]

UNCONFINED = ("--mode", "bypass", "--allow-bypass")
"""The wording in environments where commands have the machine's own process IDs."""
READ = ToolCall("read_file", {"path": "a.py"})
EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})
RUN = ToolCall("terminal", {"command": "env echo made > made.txt; cat made.txt"})
EDITS = (Reply("I edit.", tool_calls=(READ, EDIT)), Reply("Edited."))
RUNS = (Reply("I run.", tool_calls=(RUN,)), Reply("Ran."))


@pytest.mark.parametrize("vendor", VENDORS)
async def test_text_is_the_answer_and_nothing_else(home: Path, workspace: Path, vendor: str) -> None:
    look = Reply("I look first.", thinking="hm", tool_calls=(ToolCall("read_file", {"path": "a.py"}),))
    async with serve([look, Reply("It is ünïcode: 2 lines.", deltas=4)]) as server:
        environment = agent_environment(home, server, vendor)
        done = await run_headless("-p", "count", environment=environment, cwd=workspace)
    assert (done.code, done.output) == (0, "It is ünïcode: 2 lines.\n")
    assert "Read a.py: done" in done.errors
    assert "y = 2" in server.requests[1].asked.last_text


async def test_an_untrusted_custom_tool_does_not_affect_the_exit_code(home: Path, workspace: Path) -> None:
    tools = home / ".hermes" / "tools"
    tools.mkdir(parents=True)
    (tools / "greet.py").write_text(
        'TOOL = {"name": "greet", "description": "Greet somebody."}\n\n\ndef run(name: str) -> str:\n    return name\n'
    )
    async with serve([Reply("Hello.")]) as server:
        done = await run_headless("-p", "hi", environment=agent_environment(home, server), cwd=workspace)
    assert (done.code, done.output) == (0, "Hello.\n")
    assert done.errors.count("Not used, because you have not trusted it: tool greet in ") == 1


async def test_json_is_one_object(home: Path, workspace: Path) -> None:
    async with serve([Reply("Yes.")]) as server:
        arguments = ("--output-format", "json", "-p", "really?")
        done = await run_headless(*arguments, environment=agent_environment(home, server), cwd=workspace)
    assert done.code == 0
    assert len(done.output.splitlines()) == 1
    report = done.report
    assert (report["type"], report["reason"], report["exit_code"]) == ("result", "done", 0)
    assert (report["text"], report["steps"], report["error"]) == ("Yes.", 1, "")
    assert report["usage"]["input_tokens"] == 11
    assert (home / ".hermes" / "sessions" / f"{report['session_id']}.jsonl").is_file()


async def test_stream_json_is_one_event_per_line_and_the_result_last(home: Path, workspace: Path) -> None:
    gate = anyio.Event()
    held = Reply(("one ", "two ", "three"), holds=(Hold(gate, after=1),))
    async with serve([held]) as server:
        arguments = ("--output-format", "stream-json", "-p", "count")
        environment = agent_environment(home, server)
        async with headless_running(*arguments, environment=environment, cwd=workspace) as run:
            await run.wait_for_output(rb'"text":"one ')
            gate.set()
            done = await run.finish()
    assert done.code == 0
    kinds = [event["type"] for event in done.events]
    assert kinds[0] == "session_opened"
    assert done.events[0]["session_id"] == done.report["session_id"]
    assert kinds[-2:] == ["turn_ended", "result"]
    assert kinds.index("turn_started") < kinds.index("user_said") < kinds.index("text_said")
    assert "".join(event["text"] for event in done.events if event["type"] == "text_said") == "one two three"
    assert done.report["text"] == "one two three"


async def test_the_prompt_comes_from_standard_input_or_a_file(home: Path, workspace: Path) -> None:
    (workspace / "prompt.md").write_text("from a file, with ünïcode")
    async with serve(Script([Reply("ok")], pick="cycle")) as server:
        environment = agent_environment(home, server)
        for arguments, given in (
            ((), b"from a pipe"),
            (("-p", "-"), b"from a dash"),
            (("-p", "@prompt.md"), b"not this"),
        ):
            done = await run_headless(*arguments, environment=environment, cwd=workspace, given=given)
            assert (done.code, done.output) == (0, "ok\n")
    prompts = [request.asked.prompt_text for request in server.requests]
    for prompt, said in zip(
        prompts, ("from a pipe", "from a dash", "from a file, with ünïcode"), strict=True
    ):
        assert said in prompt


async def test_cwd_is_the_folder_of_files_and_commands(home: Path, workspace: Path, tmp_path: Path) -> None:
    async with serve([*RUNS]) as server:
        arguments = ("--cwd", "workspace", "--mode", "auto", "-p", "go")
        done = await run_headless(*arguments, environment=agent_environment(home, server), cwd=tmp_path)
    assert (done.code, done.output) == (0, "Ran.\n")
    assert (workspace / "made.txt").read_text() == "made\n"


@pytest.mark.parametrize(
    ("mode", "replies", "code"),
    [
        ("ask", EDITS, 5),
        ("ask", RUNS, 5),
        ("accept_edits", EDITS, 0),
        ("accept_edits", RUNS, 5),
        ("auto", EDITS, 0),
        ("auto", RUNS, 0),
        ("plan", EDITS, 0),
        ("plan", RUNS, 0),
    ],
)
async def test_a_mode_decides_what_runs_without_approval(
    home: Path, workspace: Path, mode: str, replies: tuple[Reply, ...], code: int
) -> None:
    async with serve(replies) as server:
        arguments = ("--mode", mode, "--output-format", "json", "-p", "go")
        done = await run_headless(*arguments, environment=agent_environment(home, server), cwd=workspace)
    assert done.code == code, done.errors
    assert done.report["exit_code"] == code
    happened = code == 0 and mode != "plan"
    is_edit = replies is EDITS
    assert (workspace / "a.py").read_text() == (
        "x = 5\ny = 2\n" if happened and is_edit else "x = 1\ny = 2\n"
    )
    assert (workspace / "made.txt").exists() == (happened and not is_edit)
    if code == 5:
        assert done.report["reason"] == "denied"
        assert "A tool call needed approval, but nobody is available to give it" in done.errors


async def test_timeout_ends_the_run_and_its_command(home: Path, workspace: Path) -> None:
    start = ToolCall("terminal", {"command": 'sleep 300 & echo "pid $!" > pid.new; mv pid.new pid.txt; wait'})
    pid, timeout_s = workspace / "pid.txt", 3
    async with serve(Script([Reply(tool_calls=(start,))], pick="cycle")) as server:
        while not pid.exists():  # A slow machine needs longer to get this far.
            arguments = (*UNCONFINED, "--timeout", str(timeout_s), "--output-format", "json", "-p", "go")
            done = await run_headless(*arguments, environment=agent_environment(home, server), cwd=workspace)
            assert (done.code, done.report["reason"]) == (124, "out_of_time")
            timeout_s *= 2
    assert not Path(f"/proc/{pid_in(pid.read_text())}").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_run_and_its_command(
    home: Path, workspace: Path, number: signal.Signals
) -> None:
    start = ToolCall("terminal", {"command": SLEEPER})
    async with serve([Reply(tool_calls=(start,))]) as server:
        arguments = (*UNCONFINED, "--output-format", "stream-json", "-p", "go")
        environment = agent_environment(home, server)
        async with headless_running(*arguments, environment=environment, cwd=workspace) as run:
            child = watch_process(pid_in((await run.wait_for_output(rb"pid \d+\D"))[0]))
            run.interrupt(number)
            with anyio.fail_after(60):
                done = await run.finish()
                await wait_for_end(child)
    assert done.code == 130
    assert done.report["reason"] == "cancelled"
    assert any(event["type"] == "call_ended" and event["status"] == "cancelled" for event in done.events)


async def test_a_signal_before_the_first_token_ends_the_run(home: Path, workspace: Path) -> None:
    async with serve([Reply("late", holds=(Hold(anyio.Event()),))]) as server:
        environment = agent_environment(home, server)
        async with headless_running("-p", "go", environment=environment, cwd=workspace) as run:
            await server.wait_for_request()
            run.interrupt(signal.SIGTERM)
            with anyio.fail_after(60):
                done = await run.finish()
                await server.wait_for_disconnect()
    assert (done.code, done.output) == (130, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_while_the_models_are_being_listed(
    home: Path, workspace: Path, number: signal.Signals
) -> None:
    asked = anyio.Event()

    async def never_answer(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            asked.set()
            await anyio.sleep_forever()

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, never_answer)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        environment = agent_environment(
            home, OPENAI_BASE_URL=f"http://127.0.0.1:{port}/v1", OPENAI_API_KEY="sk-test"
        )
        async with headless_running("-p", "go", environment=environment, cwd=workspace) as run:
            await asked.wait()
            run.interrupt(number)
            with anyio.fail_after(60):
                done = await run.finish()
            assert (done.code, done.output) == (130, "")
            assert "Traceback" not in done.errors
        tasks.cancel_scope.cancel()


async def test_a_signal_while_the_prompt_is_still_being_piped_in(home: Path, workspace: Path) -> None:
    with anyio.fail_after(WAIT_S):
        process = await anyio.open_process([COMMAND, "run"], env=agent_environment(home), cwd=workspace)
        async with process:
            assert process.stdin
            assert process.stderr
            await process.stdin.send(
                b"x" * 500_000
            )  # More than a pipe holds: when it has been sent, it is being read.
            process.send_signal(signal.SIGTERM)
            errors = b"".join([piece async for piece in process.stderr])
            assert (await process.wait(), errors) == (130, b"hermes-acp: Interrupted.\n")


async def test_a_reader_that_exits_stops_nothing(home: Path, workspace: Path) -> None:
    reading, writing = os.pipe()
    gate = anyio.Event()
    edit = Reply("Words before.", tool_calls=(READ, EDIT), holds=(Hold(gate),))
    async with serve([edit, Reply("Edited.")]) as server:
        arguments = ("--mode", "accept_edits", "--output-format", "stream-json", "-p", "go")
        with anyio.fail_after(WAIT_S):
            process = await anyio.open_process(
                [COMMAND, "run", *arguments], stdin=subprocess.DEVNULL, stdout=writing, cwd=workspace,
                env=agent_environment(home, server),
            )  # fmt: skip
            os.close(writing)
            async with process:
                await server.wait_for_request()
                os.close(reading)
                gate.set()
                assert process.stderr
                errors = b"".join([piece async for piece in process.stderr]).decode()
                code = await process.wait()
    assert code == 0, errors
    assert "Traceback" not in errors
    assert (workspace / "a.py").read_text() == "x = 5\ny = 2\n"


async def test_a_session_is_created_and_then_continued_by_its_name(home: Path, workspace: Path) -> None:
    async with serve([Reply("First."), Reply("Second."), Reply("Third.")]) as server:
        environment = agent_environment(home, server)
        for flag, prompt in (("--session", "one"), ("--session", "two"), ("--resume", "three")):
            arguments = (flag, "nightly-1", "--output-format", "json", "-p", prompt)
            done = await run_headless(*arguments, environment=environment, cwd=workspace)
            assert (done.code, done.report["session_id"]) == (0, "nightly-1")
    last = json.dumps(server.requests[2].body)
    assert [word in last for word in ("one", "First.", "two", "Second.", "three")] == [True] * 5


async def test_a_damaged_record_is_reported_before_the_run_continues(home: Path, workspace: Path) -> None:
    async with serve([Reply("First."), Reply("Second."), Reply("Third.")]) as server:
        environment = agent_environment(home, server)
        for prompt in ("one", "two"):
            arguments = ("--session", "nightly-1", "-p", prompt)
            await run_headless(*arguments, environment=environment, cwd=workspace)
        (record,) = home.rglob("nightly-1.jsonl")
        lines = record.read_bytes().splitlines(keepends=True)
        record.write_bytes(b"".join([*lines[:7], lines[7].swapcase(), *lines[8:]]))
        arguments = ("--session", "nightly-1", "--output-format", "stream-json", "-p", "three")
        done = await run_headless(*arguments, environment=environment, cwd=workspace)
    assert done.code == 0
    assert "record is damaged after event 7" in done.errors
    assert "record is damaged after event 7" in done.output


async def test_resume_of_an_unknown_session_is_a_usage_error(home: Path, workspace: Path) -> None:
    async with serve([]) as server:
        environment = agent_environment(home, server)
        done = await run_headless("--resume", "no-such", "-p", "go", environment=environment, cwd=workspace)
        assert (done.code, done.output) == (2, "")
        assert "'no-such'" in done.errors
        done = await run_headless(
            "--resume", "../../etc/x", "-p", "go", environment=environment, cwd=workspace
        )
        assert (done.code, done.output) == (2, "")
    assert server.requests == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--no-such-flag",), "--no-such-flag"),
        (("--mode", "yolo", "-p", "x"), "yolo"),
        (("--output-format", "xml", "-p", "x"), "xml"),
        (("--max-steps", "0", "-p", "x"), "0"),
        (("--max-steps", "many", "-p", "x"), "many"),
        (("--timeout", "-1", "-p", "x"), "-1"),
        (("--max-cost", "nan", "-p", "x"), "nan"),
        (("--session", "a", "--resume", "b", "-p", "x"), "--resume"),
        (("--session", "a/b", "-p", "x"), "'a/b' is not a valid session ID"),
        (("-p", "@no-such-file"), "no-such-file"),
        (("-p", "  "), "prompt is empty"),
        ((), "prompt is empty"),
        (("--cwd", "no-such-folder", "-p", "x"), "no-such-folder"),
    ],
)
async def test_a_usage_error_exits_with_2_and_names_the_mistake(
    home: Path, workspace: Path, arguments: tuple[str, ...], named: str
) -> None:
    async with serve([]) as server:
        environment = agent_environment(home, server)
        done = await run_headless(*arguments, environment=environment, cwd=workspace)
    assert (done.code, done.output) == (2, "")
    assert named in done.errors
    assert "Traceback" not in done.errors
    assert server.requests == []


async def test_an_unknown_subcommand_help_and_version(home: Path, workspace: Path) -> None:
    environment = agent_environment(home)
    unknown = await run_command("dance", environment=environment, cwd=workspace)
    assert (unknown.code, unknown.output) == (2, "")
    assert "dance" in unknown.errors
    helped = await run_headless("--help", environment=environment, cwd=workspace)
    assert helped.code == 0
    for flag in (
        "--cwd",
        "--output-format",
        "--mode",
        "--max-steps",
        "--max-cost",
        "--timeout",
        "--session",
        "124",
    ):
        assert flag in helped.output
    version = await run_command("--version", environment=environment, cwd=workspace)
    assert version.output.startswith("hermes-acp ")


async def test_command_output_and_stray_prints_never_reach_standard_output(
    home: Path, workspace: Path
) -> None:
    noisy = ToolCall("terminal", {"command": "echo to-one; echo to-two >&2; cat; echo after-cat"})
    async with serve([Reply(tool_calls=(noisy,)), Reply("Quiet.")]) as server:
        arguments = ("--mode", "auto", "-p", "go")
        environment = agent_environment(home, server)
        done = await run_headless(*arguments, environment=environment, cwd=workspace, given=b"not for cat")
    assert (done.code, done.output) == (0, "Quiet.\n")
    told = server.requests[1].asked.last_text
    assert "to-one\nto-two\nafter-cat" in told


async def test_the_last_answer_counts_after_a_retry(home: Path, workspace: Path) -> None:
    configure(home, "retry: {first_wait_s: 0.05}\n")
    rules = [Rule("go", (Reply(("half ", "an answer"), fault=Fault(cut_after=1)), Reply("Whole.")))]
    async with serve(Script(rules=rules)) as server:
        done = await run_headless("-p", "go", environment=agent_environment(home, server), cwd=workspace)
    assert (done.code, done.output) == (0, "Whole.\n")
