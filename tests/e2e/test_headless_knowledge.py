"""Memory and skills in runs without an editor: only what the user enabled is kept."""

from pathlib import Path

import pytest

from tests.contract.json_server import Asked, json_server
from tests.e2e.agent_process import agent_environment, configure, run_command, run_headless
from tests.model_server import Reply, Script, ToolCall, serve

pytestmark = pytest.mark.anyio
CALLS = tuple(ToolCall("read_file", {"path": f"{number}.txt"}) for number in range(4))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.txt").write_text(f"{number}\n")
    return folder


async def test_a_long_turn_causes_no_reflection(tmp_path: Path, work: Path) -> None:
    configure(tmp_path, "skills: {look_back_after_calls: 2}\n")
    replies = (Reply(tool_calls=CALLS), Reply("Read."), Reply("Nothing to keep."))
    async with serve(Script(replies)) as server:
        done = await run_headless(
            "-p", "Read them", environment=agent_environment(tmp_path, server), cwd=work
        )
        assert (done.code, done.output) == (0, "Read.\n")
        assert len(server.requests) == 2


@pytest.mark.parametrize("is_wanted", [False, True])
async def test_a_memory_service_is_used_only_if_enabled(tmp_path: Path, work: Path, is_wanted: bool) -> None:
    def answer(asked: Asked) -> tuple[int, object]:
        return 200, {"results": []}

    async with json_server(answer) as service, serve(Script((Reply("Hello."),))) as server:
        section = f"provider: mem0, base_url: {service.url}, in_headless: {str(is_wanted).lower()}"
        configure(tmp_path, f"memory: {{service: {{{section}}}}}\n")
        environment = agent_environment(tmp_path, server, MEM0_API_KEY="mem-key-0123456789")
        done = await run_headless("-p", "I like tea", environment=environment, cwd=work)
        assert done.code == 0, done.errors
        told = [asked for asked in service.asked if "I like tea" in str(asked.body)]
        assert bool(told) == is_wanted


async def test_a_note_without_approval_waits_and_is_not_reported_as_done(tmp_path: Path, work: Path) -> None:
    kept = ToolCall("memory", {"action": "add", "store": "user", "text": "Likes tea."})
    other = ToolCall("terminal", {"command": "git push origin main"})
    async with serve(Script((Reply(tool_calls=(kept, other)), Reply("Noted.")))) as server:
        environment = agent_environment(tmp_path, server)
        done = await run_headless("-p", "I like tea", environment=environment, cwd=work)
        pending = await run_command("memory", "pending", environment=environment, cwd=work)
    lines = done.errors.splitlines()
    assert [line for line in lines if "Note (about you" in line] == [
        "· Note (about you, every workspace): Likes tea.: waits for your approval (hermes-acp memory pending)"
    ]
    assert (
        len([line for line in lines if line.startswith("warning: A tool call needed")]) == 1
    )  # From the command.
    assert "Likes tea." in pending.output
