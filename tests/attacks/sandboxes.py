"""Workspaces on this machine whose commands are confined by one of the mechanisms."""

import os
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from hermes_acp.app.confinement import guarded_names
from hermes_acp.core.event_types import EventContext, PlanEntry
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, Workspace
from hermes_acp.core.proposals import Confinement, Effect, Question, Reply
from hermes_acp.policy.rule_set import RuleSet
from hermes_acp.workspaces.backends import local
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import (
    DetectedSandbox,
    SandboxMechanism,
    detect_landlock,
    detect_sandbox,
)
from hermes_acp.workspaces.sandbox.sandbox_policy import SandboxPolicy
from hermes_acp.workspaces.sandbox_setup import sandbox_bounds

WAYS: Sequence[SandboxMechanism] = ("bubblewrap", "landlock")


class Report:
    """A report sink for a command."""

    session_id = "ses_present"
    event_context = EventContext("ses_present", "turn_1", 0.0)
    prompts: tuple[str, ...] = ()
    trace_parent = ""
    confinement: Confinement = "must"

    def __init__(self) -> None:
        self.text = ""
        self.came = anyio.Event()

    def output(self, text: str) -> None:
        self.text = (self.text + text)[-100_000:]
        self.came.set()
        self.came = anyio.Event()

    def allows(self, *effects: Effect) -> bool:
        raise AssertionError(effects)

    def terminal(self, terminal_id: str) -> None:
        raise AssertionError(terminal_id)

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        raise AssertionError(entries)

    async def inquire(self, question: Question) -> Reply | None:
        return None

    async def seen(self, words: str) -> str:
        """Wait for some output."""
        with anyio.fail_after(60):
            while words not in self.text:
                await self.came.wait()
        return self.text


class Sandboxed:
    """A workspace, its folder, and what is next to it."""

    def __init__(self, workspace: Workspace, folder: Path, outside: Path) -> None:
        self.workspace = workspace
        self.folder = folder
        self.outside = outside

    async def run(
        self,
        line: str,
        timeout_s: float = 90,
        report: Report | None = None,
        confinement: Confinement = "must",
    ) -> CommandResult:
        """Run a command in the sandbox."""
        command = Command(line, str(self.folder), timeout_s, confinement)
        with anyio.fail_after(timeout_s + 30):
            return await self.workspace.run(command, report or Report())

    async def run_approved(self, line: str) -> CommandResult:
        """Run an approved command, outside the sandbox."""
        with anyio.fail_after(120):
            return await self.workspace.run(Command(line, str(self.folder), 90), Report())


def usual_bounds(**changes: object) -> SandboxPolicy:
    """Return the sandbox policy of a user who configured nothing, with some changes."""
    return structs.replace(sandbox_bounds(None, guarded_names()), **changes)


@asynccontextmanager
async def sandboxed(
    place: Path,
    way: SandboxMechanism,
    bounds: SandboxPolicy | None = None,
    *,
    is_public: bool = False,
    given: Mapping[str, str] | None = None,
    rules: Sequence[Rule] = (),
) -> AsyncGenerator[Sandboxed]:
    """Open a workspace in a new repository, and check at the end that nothing is left.

    `is_public` decides how its proxy classifies this machine's addresses, `given` are variables of the agent, and
    `rules` are the user's rules.
    """
    find = detect_landlock if way == "landlock" else detect_sandbox
    require(way, find({"PATH": os.defpath}, ()))
    folder, outside, home = place / "project", place / "outside", place / "home"
    for each in (folder, outside, home, place / "temporary"):
        each.mkdir(parents=True)
    (outside / "canary").write_text("canary-bytes")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    surroundings = {
        "PATH": os.defpath,
        "HOME": str(home),
        "TMPDIR": str(place / "temporary"),
        **(given or {}),
    }
    chosen = local.SandboxSetup(
        lambda: bounds or usual_bounds(),
        lambda ip: is_public,
        find,
        lambda place: RuleSet(rules, place).denied_paths(("terminal",)),
    )
    workspace = local.BACKEND.open(str(folder), (str(folder),), surroundings, "", chosen)
    try:
        yield Sandboxed(workspace, folder.resolve(), outside.resolve())
    finally:
        with anyio.fail_after(60):
            await workspace.close()
    assert os.listdir(place / "temporary") == []
    assert {".vscode", ".envrc", ".mcp.json"}.isdisjoint(os.listdir(folder))
    assert (outside / "canary").read_text() == "canary-bytes"


def require(way: SandboxMechanism, found: DetectedSandbox) -> None:
    """Skip the test if this machine lacks the mechanism, unless nothing may be skipped."""
    if found.way != way:
        if os.environ.get("HERMES_TEST_REQUIRE_ALL") == "1" and way == "bubblewrap":
            pytest.fail(found.remark)
        pytest.skip(found.remark or f"there is no {way} here")
