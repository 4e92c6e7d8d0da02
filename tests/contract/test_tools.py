"""Tests that every tool must pass, on a real folder."""

import os
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import HermesError, OutsideRoots, WorkspaceError
from hermes_acp.core.event_types import EventContext, PlanEntry
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.workspace_ports import Command, Workspace
from hermes_acp.core.proposals import (
    Confinement,
    Effect,
    Proposal,
    Question,
    Reaches,
    Reads,
    Reply,
    Result,
    Runs,
    Writes,
)
from hermes_acp.workspaces.backends.local import BACKEND
from tests.unit.tools.tool_calling import find_tool

pytestmark = pytest.mark.anyio
TOOLS: PluginFolder[object] = PluginFolder("hermes_acp.tools.builtin", "TOOL")


class Report:
    session_id = "ses_present"
    event_context = EventContext("ses_present", "turn_1", 0.0)
    prompts: tuple[str, ...] = ()
    trace_parent = ""
    confinement: Confinement = "usual"

    def __init__(self) -> None:
        self.text = ""
        self.plans: list[tuple[PlanEntry, ...]] = []

    def allows(self, *effects: Effect) -> bool:
        return all(isinstance(effect, Reads) for effect in effects)

    async def inquire(self, question: Question) -> Reply | None:
        return Reply("answered", "Left")

    def output(self, text: str) -> None:
        self.text += text

    def terminal(self, terminal_id: str) -> None:
        raise AssertionError(terminal_id)

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        self.plans.append(entries)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "project"
    place.mkdir()
    (place / "a.txt").write_text("one\ntwo\nthree\n")
    return place


@pytest.fixture
def workspace(folder: Path) -> Workspace:
    return BACKEND.open(str(folder), (str(folder),), {"PATH": os.defpath})


async def propose(name: str, arguments: Mapping[str, object], workspace: Workspace) -> Proposal:
    tool = find_tool(name)
    return await tool.propose(tool.arguments.model_validate(arguments), workspace)


async def perform(name: str, arguments: Mapping[str, object], workspace: Workspace) -> Result:
    with anyio.fail_after(60):
        return await (await propose(name, arguments, workspace)).perform(Report())


OUTSIDE: list[tuple[str, Mapping[str, object]]] = [
    ("read_file", {"path": "../x"}),
    ("write_file", {"path": "/etc/hermes-test", "content": ""}),
    ("edit_file", {"path": "/etc/passwd", "old_text": "root", "new_text": "toor"}),
    ("list_files", {"path": ".."}),
    ("search", {"pattern": "root", "path": "/etc"}),
    ("terminal", {"command": "true", "cwd": "/"}),
    ("browser", {"action": "upload", "ref": "e1", "path": "/etc/passwd", "url": "https://a.test/"}),
    ("browser", {"action": "download", "ref": "e1", "path": "../../x"}),
]


@pytest.mark.parametrize(("name", "arguments"), OUTSIDE, ids=[str(call) for call in OUTSIDE])
async def test_paths_outside_are_not_even_proposed(
    name: str, arguments: Mapping[str, object], workspace: Workspace
) -> None:
    with pytest.raises(OutsideRoots):
        await propose(name, arguments, workspace)


PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch"
SCRIPT = "python3 <<'INPUT'\nprint(1)\nINPUT"
EFFECTS: list[tuple[str, Mapping[str, object], str]] = [
    ("read_file", {"path": "a.txt"}, "reads"),
    ("write_file", {"path": "a.txt", "content": "x"}, "writes"),
    ("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "2"}, "writes"),
    ("list_files", {}, "lists"),
    ("search", {"pattern": "two"}, "lists"),
    ("terminal", {"command": "rm a.txt"}, "runs"),
    ("ask_user", {"question": "Left or right?"}, "nothing"),
    ("plan", {"entries": [{"content": "x"}]}, "nothing"),
    ("session_search", {"query": "two"}, "nothing"),
    ("delegate", {"tasks": [{"title": "t", "instructions": "i"}]}, "nothing"),
    ("process", {"action": "list"}, "nothing"),
    ("execute_code", {"code": "print(1)"}, "runs a script"),
    ("web_fetch", {"url": "https://A.test/x"}, "fetches"),
    ("web_search", {"query": "two"}, "asks an engine"),
    ("browser", {"action": "navigate", "url": "http://a.test"}, "opens"),
    ("diagnostics", {"path": "a.txt"}, "reads"),
    ("glob", {"pattern": "*.txt"}, "lists"),
    ("apply_patch", {"patch": PATCH}, "writes"),
]
TRIED_ELSEWHERE = {
    "git",
    "notebook_edit",
    "memory",
    "skill",
    "skill_manage",
    "tool_manage",
    "schedule",
    "board",
    "card",
}
"""Tools used with a repository, a notebook, memory, skills or a clock, each tested in its own file."""


@pytest.mark.parametrize(("name", "arguments", "effect"), EFFECTS, ids=[name for name, *_ in EFFECTS])
async def test_proposing_declares_effects_and_has_none(
    name: str, arguments: Mapping[str, object], effect: str, workspace: Workspace, folder: Path
) -> None:
    proposal = await propose(name, arguments, workspace)
    file = str(folder / "a.txt")
    confined = workspace.confines(Command("true", str(folder), 1, confinement="must"))
    expected = {
        "reads": (Reads(file),),
        "writes": (Writes(file),),
        "lists": (Reads(str(folder)),),
        "runs": (Runs("rm a.txt", str(folder), (str(folder),), confined=confined),),
        "runs a script": (Runs(SCRIPT, str(folder), (str(folder),), confined=confined),),
        "fetches": (Reaches("a.test", "https://a.test/x", is_all_sent=True),),
        "asks an engine": (Reaches("finder.test", "https://finder.test/"),),
        "opens": (Reaches("a.test", "http://a.test/", is_all_sent=True),),
        "nothing": (),
    }
    assert proposal.effects == expected[effect]
    assert (folder / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert os.listdir(folder) == ["a.txt"]
    assert not (await proposal.perform(Report())).is_error


def test_every_tool_is_tested_here() -> None:
    assert {name for name, *_ in EFFECTS} | TRIED_ELSEWHERE == set(TOOLS.names())


@pytest.mark.parametrize("name", ["write_file", "edit_file", "apply_patch"])
async def test_a_file_changed_in_the_meantime_is_left_alone(
    name: str, workspace: Workspace, folder: Path
) -> None:
    arguments = next(given for tool, given, _ in EFFECTS if tool == name)
    proposal = await propose(name, arguments, workspace)
    (folder / "a.txt").write_text("somebody else's two\n")
    result = await proposal.perform(Report())
    assert result.is_error
    assert "Read it again" in result.text
    assert (folder / "a.txt").read_text() == "somebody else's two\n"


async def test_binary_files_and_folders_cannot_be_written(workspace: Workspace, folder: Path) -> None:
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\0\0")
    with pytest.raises(WorkspaceError, match="PNG image of 8 bytes"):
        await propose("write_file", {"path": "image.png", "content": "x"}, workspace)
    (folder / "sub").mkdir()
    with pytest.raises(WorkspaceError) as caught:
        await propose("write_file", {"path": "sub", "content": "x"}, workspace)
    assert "list_files" in caught.value.sentence()


async def test_reading_a_missing_file_names_similar_ones(workspace: Workspace, folder: Path) -> None:
    (folder / "Settings.py").touch()
    for path, said in (("settings.py", r"Settings\.py"), ("no/where.py", "list_files"), (".", "list_files")):
        with pytest.raises(WorkspaceError) as caught:
            await perform("read_file", {"path": path}, workspace)
        assert said.replace("\\", "") in caught.value.sentence()


async def test_reading_a_huge_file_is_rejected_with_its_size(workspace: Workspace, folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(WorkspaceError, match="100,000,000"):
        await perform("read_file", {"path": "huge"}, workspace)


async def test_terminal_reports_exit_codes_and_timeouts(workspace: Workspace) -> None:
    failed = await perform("terminal", {"command": "echo no; exit 4"}, workspace)
    assert (failed.text, failed.is_error, failed.exit_code) == ("no\n[exit code: 4]", False, 4)
    silent = await perform("terminal", {"command": "true"}, workspace)
    assert silent.text == "(no output)\n[exit code: 0]"
    timeout_s = 0.25
    late = {"command": "echo begun; sleep 1000; echo"}
    while not (
        end := await perform("terminal", late | {"timeout_s": f"{timeout_s}"}, workspace)
    ).text.startswith("begun"):
        timeout_s *= 2
    assert end.is_error
    assert end.text.startswith(f"begun\n[timed out after {timeout_s:g} s")


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "pwd", "cwd": "nope"},
        {"command": "pwd", "cwd": "a.txt"},
        {"command": "a\0b"},
        {"command": "  "},
    ],
)
async def test_a_command_that_cannot_run_is_never_proposed(
    workspace: Workspace, arguments: Mapping[str, object]
) -> None:
    with pytest.raises(HermesError):
        await propose("terminal", arguments, workspace)


@pytest.mark.parametrize("glob", [None, "*", ".env", "**/*"])
async def test_search_skips_files_with_secrets(workspace: Workspace, folder: Path, glob: str | None) -> None:
    for name in (".env", ".env.local", "id_rsa", "sub/server.pem", "sub/plain.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("KEY=topsecret\n")
    arguments = {"pattern": "topsecret"} | ({"glob": glob} if glob else {})
    found = (await perform("search", arguments, workspace)).text
    assert found == (
        "No line matches topsecret. Ignored, binary and secret files are not searched."
        if glob == ".env"
        else "sub/plain.txt:1: KEY=topsecret"
    )


async def test_search_is_grouped_and_limited(workspace: Workspace, folder: Path) -> None:
    (folder / "b.txt").write_text("two too\n")
    found = await perform("search", {"pattern": "two"}, workspace)
    assert found.text == "a.txt:2: two\n\nb.txt:1: two too"
    (folder / "c.txt").write_text(("needle " + "x" * 700 + "\n") * 300)
    many = await perform("search", {"pattern": "needle"}, workspace)
    assert "only the first" in many.text
    assert len(many.text.encode()) < 66_000
    with pytest.raises(HermesError, match="unclosed"):
        await perform("search", {"pattern": "["}, workspace)
