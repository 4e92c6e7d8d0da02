"""Syncing of the record around a call, and each tool's declaration of whether it can be repeated."""

import pytest

from hermes_acp.agent.loop.turn_loop import run_turn
from hermes_acp.core.events import AnyEvent, CallEnded, CallStarted
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.ports.workspace_ports import Command, CommandResult
from hermes_acp.core.proposals import Progress
from hermes_acp.core.record.file_versions import file_version
from tests.conversations.scripted_provider import ScriptedProvider, call, step
from tests.unit.agent.turns import MemoryJournal, open_turn
from tests.unit.tools.tool_calling import MemoryWorkspace

pytestmark = pytest.mark.anyio


class LoggedJournal(MemoryJournal):
    """Records the start and end of calls, and every sync, in one log."""

    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self._log = log

    def append(self, event: AnyEvent) -> AnyEvent:
        if isinstance(event, CallStarted | CallEnded):
            self._log.append(type(event).__name__)
        return super().append(event)

    async def settle(self) -> None:
        if self.settled < len(self.events):
            self._log.append("sync")
        await super().settle()


class LoggedWorkspace(MemoryWorkspace):
    """Records every effect in the same log."""

    def __init__(self, log: list[str]) -> None:
        super().__init__({"a": b"one\n"})
        self._log = log

    async def write(self, path: str, content: bytes) -> None:
        self._log.append("effect")
        await super().write(path, content)

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        self._log.append("effect")
        return await super().run(command, progress)


async def log_of(name: str, **arguments: object) -> list[str]:
    log: list[str] = []
    provider, journal = ScriptedProvider(), LoggedJournal(log)
    provider.plays(step("Now.", call(name, "c1", **arguments)), step("Done."))
    turn = open_turn(provider, journal, LoggedWorkspace(log))
    turn.record.seen["/project/a"] = file_version("/project/a", b"one\n").digest
    await turn.ledger.settle()
    log.clear()
    assert (await run_turn(turn)).reason == "done"
    return log


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_file", {"path": "b", "content": "x"}),
        ("edit_file", {"path": "a", "old_text": "one", "new_text": "two"}),
        ("terminal", {"command": "true"}),
    ],
)
async def test_the_start_of_an_effect_is_synced_before_it_and_its_outcome_after_it(
    name: str, arguments: dict[str, object]
) -> None:
    assert await log_of(name, **arguments) == ["CallStarted", "sync", "effect", "CallEnded", "sync"]


async def test_read_only_calls_do_not_wait_for_the_disk() -> None:
    assert await log_of("read_file", path="a") == ["CallStarted", "CallEnded"]


def test_every_tool_declares_whether_it_can_be_repeated() -> None:
    plugin_folder: PluginFolder[Tool] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    repeatable = {name for name in plugin_folder if plugin_folder.open(name).tool_metadata.is_repeatable}
    assert repeatable == {
        "ask_user",
        "board",
        "diagnostics",
        "git",
        "glob",
        "list_files",
        "plan",
        "read_file",
        "search",
        "session_search",
        "skill",
        "web_fetch",
        "web_search",
        "write_file",
    }


@pytest.mark.parametrize(
    ("name", "arguments", "is_repeatable"),
    [("write_file", {"path": "b", "content": "x"}, True), ("terminal", {"command": "true"}, False)],
)
async def test_the_tools_declaration_is_recorded_with_the_start(
    name: str, arguments: dict[str, object], is_repeatable: bool
) -> None:
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(step(call(name, "c1", **arguments)), step("Done."))
    await run_turn(open_turn(provider, journal, MemoryWorkspace()))
    assert CallStarted("c1", is_repeatable) in journal.events
