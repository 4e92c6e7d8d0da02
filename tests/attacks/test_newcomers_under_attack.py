"""Unapproved files that a confined command creates, and that are quarantined."""

import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.ports.workspace_ports import Command
from tests.attacks.sandboxes import WAYS, Report, Sandboxed, sandboxed

pytestmark = pytest.mark.anyio

EVIL = "printf '[core]\\nrepositoryformatversion = 0\\nfsmonitor = touch ran\\n' > {0}/config"
BARE = "mkdir -p {0}/objects {0}/refs; echo 'ref: refs/heads/main' > {0}/HEAD"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=WAYS)
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Sandboxed]:
    async with sandboxed(tmp_path, request.param) as opened:
        yield opened


@pytest.fixture
async def roomy(tmp_path: Path) -> AsyncGenerator[Sandboxed]:
    async with sandboxed(tmp_path, "bubblewrap") as opened:
        yield opened


def git(place: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=place,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    ["AGENTS.md", ".github/workflows/x.yml", ".hermes/config.yaml", ".npmrc", "Agents.MD", ".gitmodules"],
)
async def test_a15_a_file_with_a_protected_name_does_not_stay(box: Sandboxed, name: str) -> None:
    end = await box.run(f"mkdir -p $(dirname {name}); echo obey > {name}; echo done")
    top = name.partition("/")[0]
    assert not (box.folder / top).exists()
    if (box.folder / f"{top}.unapproved").exists():
        assert f"{top}.unapproved" in end.output


async def test_a15_a_link_is_quarantined_as_well(roomy: Sandboxed) -> None:
    end = await roomy.run("echo obey > harmless.txt; ln -s harmless.txt CLAUDE.md")
    assert not (roomy.folder / "CLAUDE.md").is_symlink()
    assert "CLAUDE.md is now CLAUDE.md.unapproved" in end.output


async def test_existing_files_and_files_made_between_commands_stay(roomy: Sandboxed) -> None:
    (roomy.folder / "AGENTS.md").write_text("mine")
    assert "unapproved" not in (await roomy.run("true")).output
    (roomy.folder / ".github").mkdir()
    assert "unapproved" not in (await roomy.run("true")).output
    await roomy.workspace.run(Command("echo 1 > CLAUDE.md", str(roomy.folder), 20, "never"), Report())
    assert "unapproved" not in (await roomy.run("ls")).output
    assert {"AGENTS.md", ".github", "CLAUDE.md"} <= {each.name for each in roomy.folder.iterdir()}


async def test_a_background_command_leaves_nothing_either(roomy: Sandboxed) -> None:
    line = "read go; echo obey > AGENTS.md; echo made; read go"
    process = await roomy.workspace.launch(Command(line, str(roomy.folder), 30, "must"))
    await process.write("\n")
    said = ""
    with anyio.fail_after(60):
        while "made" not in said:
            said += (await process.read(10)).output
    end = await roomy.run("cat AGENTS.md")
    assert not (roomy.folder / "AGENTS.md").exists()
    assert "AGENTS.md.unapproved" in end.output
    await process.kill()


@pytest.mark.parametrize("place", ["new", "a/b/c"])
@pytest.mark.parametrize("make", ["git init -q {0}; " + EVIL.format("{0}/.git"), BARE + "; " + EVIL])
async def test_d06_a_new_repository_starts_nothing(roomy: Sandboxed, place: str, make: str) -> None:
    end = await roomy.run(make.format(place))
    git(roomy.folder / place, "status")
    assert not (roomy.folder / place / "ran").exists()
    assert not (roomy.folder / "ran").exists()
    assert "core.fsmonitor" in end.output


async def test_d06_a_hook_in_a_new_repository_does_not_run(roomy: Sandboxed) -> None:
    hook = "mkdir -p n/.git/hooks; printf '#!/bin/sh\\ntouch ran' > n/.git/hooks/pre-commit; chmod +x n/.git/hooks/*"
    end = await roomy.run(f"git init -q n; {hook}")
    git(roomy.folder / "n", "commit", "--allow-empty", "-m", "x")
    assert not (roomy.folder / "n/ran").exists()
    assert "pre-commit" in end.output


async def test_an_ordinary_new_repository_stays(roomy: Sandboxed) -> None:
    line = (
        "git init -q n && cd n && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && "
        "git remote add origin https://example.com/x.git && git config user.name me && cd .. && "
        "git clone -q n m && git -C n worktree add -q ../w"
    )
    end = await roomy.run(line)
    assert "unapproved" not in end.output
    for name in ("n", "m", "w"):
        assert "fatal" not in git(roomy.folder / name, "status")


async def test_d06_deeper_repositories_are_checked(roomy: Sandboxed) -> None:
    deep = roomy.folder / "a/b/c"
    deep.mkdir(parents=True)
    git(deep, "init", "-q")
    before = (deep / ".git/config").read_text()
    line = f"{EVIL.format('a/b/c/.git')}; mv a/b/c/.git a/b/c/x; mv a z; git init -q a/b/c; {EVIL.format('a/b/c/.git')}"
    await roomy.run(line)
    moved = roomy.folder / "z/b/c"
    assert (moved if moved.exists() else deep).joinpath(".git/config").read_text() == before
    git(deep, "status")
    assert not (deep / "ran").exists()


async def test_d06_linked_work_trees_elsewhere_keep_their_settings(roomy: Sandboxed) -> None:
    git(roomy.folder, "commit", "-q", "--allow-empty", "-m", "x")
    tree = roomy.outside / "tree"
    git(roomy.folder, "worktree", "add", "-q", str(tree))
    line = (
        "git --version; cp -r .git .evil; printf '[core]\\nfsmonitor = touch ran\\n' > .evil/config; "
        f"echo {roomy.folder}/.evil > .git/worktrees/tree/commondir"
    )
    await roomy.run(line)
    git(tree, "status")
    assert not (tree / "ran").exists()
