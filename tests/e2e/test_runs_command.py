"""`hermes-acp runs` in a terminal, with the serving process killed while a question waits."""

import json
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, configure, run_command, run_headless
from tests.e2e.http_serving import serving
from tests.model_server import Reply, ToolCall, serve
from tests.unit.notifications.notification_receiver import receiver

pytestmark = pytest.mark.anyio

WRITE = ToolCall("write_file", {"path": "made.txt", "content": "made\n"})


async def command(*words: str, environment: dict[str, str], cwd: Path, code: int = 0) -> str:
    done = await anyio.run_process(
        [COMMAND, "runs", *words], env=environment, cwd=cwd, check=False, input=b""
    )
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode()


async def state_of(run: str, environment: dict[str, str], cwd: Path, *states: str) -> dict[str, object]:
    """Wait until a run is in one of these states."""
    with anyio.fail_after(WAIT_S):
        while True:
            shown = json.loads(await command("show", run, "--json", environment=environment, cwd=cwd))
            if shown["state"] in states:
                return shown


async def test_a_question_outlives_the_process_and_its_answer_continues_in_the_next(
    home: Path, workspace: Path
) -> None:
    async with serve([Reply("I write.", tool_calls=(WRITE,)), Reply("Written.")]) as server:
        environment = agent_environment(home, server)
        async with serving(environment, home / "first") as first:
            started = await command("start", "make a file", environment=environment, cwd=workspace)
            run = started.split()[0]
            await state_of(run, environment, workspace, "input_required")
            first.process.kill()
            await first.wait()
        text = await command("show", run, environment=environment, cwd=workspace)
        assert "+made" in text
        assert f"hermes-acp runs answer {run} allow|deny" in text
        async with serving(environment, home / "second"):
            said = await command("answer", run, "allow", environment=environment, cwd=workspace)
            assert said == f"Answered. Run {run} continues.\n"
            done = await state_of(run, environment, workspace, "done")
            assert done["answer"] == "Written."
            assert (await command("show", run, environment=environment, cwd=workspace)).endswith(
                "\nThe agent's last message\nWritten.\n"
            )
    assert (workspace / "made.txt").read_text() == "made\n"
    assert len(server.requests) == 2


async def test_a_run_in_the_foreground_prints_its_answer(home: Path, workspace: Path) -> None:
    async with serve([Reply("I write.", tool_calls=(WRITE,)), Reply("Not then.")]) as server:
        environment = agent_environment(home, server)
        start = ("start", "--id", "r1", "--wait", "-p", "make a file")
        question = await command(*start, environment=environment, cwd=workspace, code=5)
        assert "Asked because: made.txt would change" in question
        await command("answer", "r1", "Use another name.", environment=environment, cwd=workspace)
        assert await command(*start, environment=environment, cwd=workspace) == "Not then.\n"
    assert not (workspace / "made.txt").exists()
    assert "Use another name." in server.requests[1].asked.last_text


async def test_a_run_continues_a_known_session_and_creates_one_only_on_request(
    home: Path, workspace: Path
) -> None:
    environment = agent_environment(home)
    sessions = home / ".hermes" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "miner-1.jsonl").write_text("")
    start = ("runs", "start", "go on", "--session", "miner1")
    refused = await run_command(*start, environment=environment, cwd=workspace)
    assert "Did you mean 'miner-1'?" in refused.errors
    (sessions / "miner-1.jsonl").unlink()
    start = ("runs", "start", "go on", "--session", "mine")
    refused = await run_command(*start, environment=environment, cwd=workspace)
    assert (refused.code, "There is no session 'mine'" in refused.errors) == (2, True), refused.errors
    assert "--create-session" in refused.errors
    await command(*start[1:], "--create-session", environment=environment, cwd=workspace)
    await command(*start[1:], environment=environment, cwd=workspace)  # The first run will create it.
    listed = json.loads(await command("list", "--json", environment=environment, cwd=workspace))
    assert [each["session_id"] for each in listed] == ["mine", "mine"]


async def test_a_schedule_starts_its_run_in_the_serving_process(home: Path, workspace: Path) -> None:
    async with serve([Reply("Looked.")]) as server:
        environment = agent_environment(home, server)

        async def schedule(*words: str) -> str:
            done = await anyio.run_process(
                [COMMAND, "schedule", *words], env=environment, cwd=workspace, check=False, input=b""
            )
            assert done.returncode == 0, done.stderr.decode()
            return done.stdout.decode()

        added = await schedule("add", "--at", "+1s", "-p", "look", "--name", "soon")
        assert added.startswith("soon  once at ")
        async with serving(environment, home / "serving"):
            with anyio.fail_after(WAIT_S):
                while not (history := json.loads(await schedule("history", "soon", "--json"))):
                    pass
            assert [each["fate"] for each in history] == ["started"]
            await state_of(history[0]["run_id"], environment, workspace, "done")
        (listed,) = json.loads(await schedule("list", "--json"))
        assert listed["next_at"] is None
    assert server.requests[0].asked.last_text == "look"


async def test_a_weekly_digest_is_a_schedule_whose_answer_is_delivered(home: Path, workspace: Path) -> None:
    search = ToolCall("session_search", {"since": "7d", "limit": 20})
    digest = "Monday\n- The login test was fixed [{session}].\n- Open: nothing. @everyone"
    with receiver() as phone:
        configure(home, "notifications: {targets: {phone: {service: apprise, events: [failed]}}}\n")
        (home / ".hermes" / ".env").write_text(f"HERMES_NOTIFY_PHONE=json://127.0.0.1:{phone.port}/x\n")
        async with serve([Reply("Fixed.")]) as server:
            environment = agent_environment(home, server)
            words = ("--output-format", "json", "-p", "Fix the login test")
            done = await run_headless(*words, environment=environment, cwd=workspace)
            earlier = done.report["session_id"]
        async with serve([Reply("", tool_calls=(search,)), Reply(digest.format(session=earlier))]) as server:
            environment = agent_environment(home, server)
            words = (
                "schedule",
                "add",
                "--at",
                "+1s",
                "-p",
                "/digest",
                "--name",
                "week",
                "--deliver",
                "phone",
            )
            added = await run_command(*words, environment=environment, cwd=workspace)
            assert added.code == 0, added.errors
            async with serving(environment, home / "serving"):
                _, message = await run_sync(phone.next)
        assert phone.received.empty()
    assert f"{earlier} #" in server.requests[1].asked.last_text
    assert message["title"] == "hermes-acp: Done: /digest"
    *told, about = message["message"].splitlines()
    assert told == ["Monday", f"- The login test was fixed [{earlier}].", "- Open: nothing. @\u200beveryone"]
    assert about.startswith("Run ")


async def test_a_missing_folder_is_rejected_at_once(home: Path, workspace: Path) -> None:
    environment = agent_environment(home)
    for words in (("runs", "start", "x"), ("schedule", "add", "0 7 * * *", "-p", "x")):
        done = await run_command(*words, "--cwd", "/no/such/place", environment=environment, cwd=workspace)
        assert (done.code, "'/no/such/place' is not a folder" in done.errors) == (2, True), done.errors
