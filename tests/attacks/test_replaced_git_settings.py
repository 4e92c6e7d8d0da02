"""Git settings that an outside program replaces while confined commands try to write to them."""

import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from hermes_acp.core.ports.workspace_ports import Command
from tests.attacks.sandboxes import Report, Sandboxed, sandboxed

pytestmark = pytest.mark.anyio
TIMES = 40
WRITES = "echo ready; while :; do echo '#evil' >> .git/config; echo x > .git/hooks/made; done 2>/dev/null"
LEAVES = (
    "ps -e | wc -l; (setsid sh -c 'sleep 1000; touch .git/late' >/dev/null 2>&1 &); git --version; echo done"
)
IDENTITY = "git config --global user.name a; git config --global user.email a@b; "


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def box(tmp_path: Path) -> AsyncGenerator[Sandboxed]:
    async with sandboxed(tmp_path, "bubblewrap") as opened:
        yield opened


def replace_settings(folder: Path) -> str:
    """Have git replace its settings many times; return them after each change."""
    seen: list[str] = []
    for number in range(TIMES):
        subprocess.run(["git", "config", "x.y", str(number)], cwd=folder, check=True)
        seen.append((folder / ".git/config").read_text())
    return "".join(seen)


@pytest.mark.parametrize("in_terminal", [False, True])
@pytest.mark.parametrize("prefix", ["", "git --version; "])
async def test_a_launched_command_never_writes_replaced_settings(
    box: Sandboxed, prefix: str, in_terminal: bool
) -> None:
    command = Command(prefix + WRITES, str(box.folder), 90, "must")
    process = await box.workspace.launch(command, in_terminal=in_terminal)
    said = ""
    with anyio.fail_after(60):
        while "ready" not in said:
            said += (await process.read(10)).output
    seen = await run_sync(replace_settings, box.folder)
    await process.kill()
    assert "evil" not in seen + (box.folder / ".git/config").read_text()
    assert not (box.folder / ".git/hooks/made").exists()


async def test_a_process_left_running_never_writes_replaced_settings(box: Sandboxed) -> None:
    end = await box.run(f"({WRITES}) >/dev/null 2>&1 & echo started")
    assert "started" in end.output
    seen = await run_sync(replace_settings, box.folder)
    assert "evil" not in seen + (box.folder / ".git/config").read_text()


async def test_a_foreground_command_that_does_not_name_git_never_writes_them(box: Sandboxed) -> None:
    report = Report()
    seen: list[str] = []
    async with anyio.create_task_group() as group:
        group.start_soon(box.run, WRITES, 600, report)
        await report.seen("ready")
        seen.append(await run_sync(replace_settings, box.folder))
        group.cancel_scope.cancel()
    assert "evil" not in "".join(seen) + (box.folder / ".git/config").read_text()


async def test_no_process_of_a_command_that_names_git_outlives_it(box: Sandboxed) -> None:
    end = await box.run(LEAVES)
    assert end.exit_code == 0
    assert not end.left_running
    assert "done" in end.output
    assert "The background processes of this command were ended" in end.output
    again = await box.run("git --version; (exit 3)")
    assert again.exit_code == 3
    assert "background processes" not in again.output


async def test_the_output_of_a_command_that_names_git_is_read_to_its_end(box: Sandboxed) -> None:
    end = await box.run("git --version > >(sleep 0.05; cat); exit 4")
    assert "git version" in end.output
    assert end.exit_code == 4
    assert (await box.run("git --version; kill -9 $$")).exit_code == 128 + 9


async def test_a_repositorys_garbage_collection_ends_before_the_command_does(box: Sandboxed) -> None:
    end = await box.run(
        f"{IDENTITY}git config gc.auto 1; git -c gc.auto=1 commit -q --allow-empty -m x; "
        "git -c gc.auto=1 gc --auto; git config --get-all gc.autoDetach; git config --get maintenance.autoDetach"
    )
    assert end.output.count("false") == 2, end.output
    assert "background processes" not in end.output


@pytest.mark.parametrize("line", ["sh commit.sh", "cp commit.sh .git/HEAD", "mv .git moved"])
async def test_a_script_that_commits_is_told_how_to(box: Sandboxed, line: str) -> None:
    (box.folder / "commit.sh").write_text(f"{IDENTITY}git commit --allow-empty -m x\n")
    end = await box.run(line)
    assert end.exit_code != 0
    assert "unsandboxed: true" in end.output or line.startswith("mv")
    if line.startswith("sh"):
        assert "names git" in end.output
        end = await box.run(f"{line} # git")
        assert end.exit_code == 0, end.output


async def test_programs_that_only_read_the_git_directory_cause_no_message(box: Sandboxed) -> None:
    (box.folder / "look.sh").write_text("git status --short; git diff; git rev-parse --git-dir\n")
    (box.folder / "a").write_text("a")
    subprocess.run(["git", "add", "a"], cwd=box.folder, check=True)
    (box.folder / "a").touch()
    end = await box.run("sh look.sh")
    assert end.exit_code == 0
    assert "sandbox" not in end.output
    assert end.output.splitlines()[0] == "A  a"


async def test_a_repository_that_is_only_read_gets_no_placeholder(box: Sandboxed) -> None:
    subprocess.run(["rm", "-r", str(box.folder / ".git/hooks")], check=True)
    end = await box.run("ls .git")
    assert {"commondir", "hooks"}.isdisjoint(end.output.split())
    assert {"commondir", "hooks"} <= set((await box.run("git --version; ls .git")).output.split())
