"""The git tool on real repositories: what it reports, and that nothing configured in a repository runs."""

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.core.errors import BadRequest, WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, Workspace
from hermes_acp.core.proposals import Progress, Reads, Result
from hermes_acp.workspaces.backends.local import BACKEND, SandboxSetup
from hermes_acp.workspaces.sandbox.sandbox_policy import SandboxPolicy
from tests.contract.test_tools import perform, propose

pytestmark = pytest.mark.anyio
SETTINGS = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.defpath, "HOME": "/"}
AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *AUTHOR, *arguments], cwd=folder, env=SETTINGS, check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "project"
    (place / "src").mkdir(parents=True)
    git(place, "init", "-q", "-b", "main")
    (place / "src" / "a.txt").write_text("one\ntwo\n")
    (place / ".env").write_text("TOKEN=first\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "The beginning")
    (place / "src" / "a.txt").write_text("one\n2\n")
    (place / ".env").write_text("TOKEN=second\n")
    return place


@pytest.fixture
def workspace(folder: Path) -> Workspace:
    return BACKEND.open(str(folder), (str(folder),), {"PATH": os.environ["PATH"]})


async def look(workspace: Workspace, **arguments: object) -> Result:
    return await perform("git", arguments, workspace)


async def test_the_tool_reports_the_state_of_a_repository(workspace: Workspace, folder: Path) -> None:
    assert " M src/a.txt" in (await look(workspace, action="status")).text
    diff = (await look(workspace, action="diff")).text
    assert "-two\n+2" in diff
    git(folder, "add", "src/a.txt")
    assert (await look(workspace, action="diff", path="src")).text == "(nothing)"
    assert "+2" in (await look(workspace, action="diff", staged=True)).text
    assert "A: The beginning" in (await look(workspace, action="log", count=1)).text
    assert "A: The beginning" in (await look(workspace, action="log", path="src/a.txt")).text
    assert "+one\n+two" in (await look(workspace, action="show")).text
    assert (await look(workspace, action="show", ref="HEAD:src/a.txt")).text == "one\ntwo"
    assert "(A 20" in (await look(workspace, action="blame", path="src/a.txt", ref="HEAD")).text
    assert (await look(workspace, action="log", ref="nothing-like-it")).is_error


async def test_files_with_secrets_are_omitted_unless_they_are_named(
    workspace: Workspace, folder: Path
) -> None:
    for action in ("diff", "show"):
        assert "TOKEN" not in (await look(workspace, action=action)).text
    named = await propose("git", {"action": "diff", "path": ".env"}, workspace)
    assert named.effects == (Reads(str(folder / ".env")),)
    named = await propose("git", {"action": "show", "ref": "HEAD:.env"}, workspace)
    assert Reads(str(folder / ".env")) in named.effects


async def test_no_program_of_a_repository_is_run(workspace: Workspace, folder: Path) -> None:
    marker = folder.parent / "was-run"
    program = folder / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    program.chmod(0o755)
    for name in ("git", "env", "cat"):
        (folder / name).write_bytes(program.read_bytes())
        (folder / name).chmod(0o755)
    (folder / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-commit"):
        (folder / ".git" / "hooks" / hook).write_bytes(program.read_bytes())
        (folder / ".git" / "hooks" / hook).chmod(0o755)
    evil = str(program)
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "core.editor", "pager.log", "pager.diff",
        "diff.external", "diff.x.command", "diff.x.textconv", "filter.x.clean", "filter.x.smudge", "filter.x.process",
        "filter.a=b.clean", "gpg.program", "interactive.diffFilter", "alias.status",
    ):  # fmt: skip
        git(folder, "config", key, f"!{evil}" if key.startswith("alias") else evil)
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "core.worktree", "/")
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "attributes").write_text("*.txt filter=x diff=x\n*.md filter=a=b\n")
    (folder / "src" / "b.md").write_text("new\n")
    os.utime(folder / "src" / "a.txt", (1, 1))
    hostile = BACKEND.open(str(folder), (str(folder),), {"PATH": f"{folder}:{os.environ['PATH']}"})
    for arguments in (
        {"action": "status"},
        {"action": "diff"},
        {"action": "diff", "staged": True},
        {"action": "diff", "ref": "HEAD"},
        {"action": "log", "path": "src/a.txt"},
        {"action": "show"},
        {"action": "blame", "path": "src/a.txt"},
    ):
        result = await look(hostile, **arguments)
        assert not result.is_error, (arguments, result.text)
        assert not marker.exists(), arguments


@pytest.mark.parametrize(
    ("name", "more"),
    [
        (b"\xff", ""), ("a\u2028b".encode(), ""), (b"a\x0bb", ""), (b"a\x1cb", ""), (b"a\xc2\x85b", ""),
        (b"evil", "\tclean = a\n" * 8000), (b"evil", "\tother = 1\n" * 8000), (b"caf\xc3\xa9", ""), (b"a.clean", ""),
        (b"x" * 20_000, ""),
    ],
)  # fmt: skip
async def test_no_filter_is_run_whatever_its_name_and_number(
    workspace: Workspace, folder: Path, name: bytes, more: str
) -> None:
    marker = folder.parent / "was-run"
    (folder / ".gitattributes").write_bytes(b"*.txt filter=" + name + b"\n")
    with (folder / ".git" / "config").open("ab") as config:
        config.write(f'[filter "before"]\n{more}'.encode())
        config.write(b'[filter "' + name + f'"]\n\tclean = "touch {marker}; cat"\n'.encode())
        config.write(f'[filter "behind"]\n{more}'.encode())
    os.utime(folder / "src" / "a.txt", (1, 1))
    with suppress(WorkspaceError):
        await look(workspace, action="diff")
    assert not marker.exists()


async def test_external_files_named_in_settings_are_neither_followed_nor_quoted(folder: Path) -> None:
    bare = SandboxSetup(lambda: SandboxPolicy(when="off"))
    workspace = BACKEND.open(str(folder), (str(folder),), {"PATH": os.environ["PATH"]}, confinement=bare)
    outside = folder.parent / "outside"
    outside.write_text("* bad!name\nOther Name <a@example.org>\n")
    for key in ("core.attributesFile", "mailmap.file", "blame.ignoreRevsFile"):
        git(folder, "config", key, str(outside))
    for arguments in ({"action": "status"}, {"action": "diff"}, {"action": "blame", "path": "src/a.txt"}):
        reported = (await look(workspace, **arguments)).text
        assert "bad!name" not in reported
        assert "Other Name" not in reported


async def test_a_repository_elsewhere_is_not_read(tmp_path: Path) -> None:
    elsewhere, place = tmp_path.resolve() / "elsewhere", tmp_path.resolve() / "place"
    elsewhere.mkdir()
    place.mkdir()
    git(elsewhere, "init", "-q")
    workspace = BACKEND.open(str(place), (str(place),), {"PATH": os.defpath})
    with pytest.raises(WorkspaceError, match="is not in a git repository"):
        await propose("git", {"action": "status"}, workspace)
    (place / ".git").write_text(f"gitdir: {elsewhere}/.git\n")
    with pytest.raises(WorkspaceError, match="outside the session's folders"):
        await propose("git", {"action": "status"}, workspace)
    (place / ".git").unlink()
    (place / ".git").symlink_to(elsewhere / ".git")
    with pytest.raises(WorkspaceError, match="outside the session's folders"):
        await propose("git", {"action": "status"}, workspace)
    (place / ".git").unlink()
    git(place, "init", "-q")
    (place / ".git" / "commondir").write_text(str(elsewhere / ".git"))
    with pytest.raises(WorkspaceError, match="outside the session's folders"):
        await propose("git", {"action": "status"}, workspace)


async def test_an_option_is_not_accepted_as_a_commit(workspace: Workspace) -> None:
    with pytest.raises(BadRequest):
        await propose("git", {"action": "diff", "ref": "--output=x"}, workspace)
    with pytest.raises(BadRequest):
        await propose("git", {"action": "blame"}, workspace)


class Raced:
    """A workspace in which a filter is configured right after each check for filters."""

    def __init__(self, workspace: Workspace, name_one: Callable[[], None]) -> None:
        self._workspace = workspace
        self._name_one = name_one

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        end = await self._workspace.run(command, progress)
        self._name_one()
        return end


async def test_a_filter_configured_after_the_check_stays_in_the_sandbox(
    workspace: Workspace, folder: Path
) -> None:
    if not workspace.confines(Command("true", str(folder), 10.0, confinement="must")):
        pytest.skip("there is no sandbox here")
    outside = folder.parent / "outside"
    (folder / ".gitattributes").write_text("*.txt filter=late\n")

    def name_one() -> None:
        git(folder, "config", "filter.late.clean", f"touch '{outside}' '{folder}/src/inside'; cat")

    raced: Any = Raced(workspace, name_one)
    assert "+2" in (await look(raced, action="diff")).text
    assert not outside.exists()
