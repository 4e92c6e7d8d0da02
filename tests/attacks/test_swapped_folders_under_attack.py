"""Workspace folders that a confined command moves away or replaces with links before the next command."""

import os
import shutil
import subprocess
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.ports.workspace_ports import CommandResult
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import SandboxMechanism
from tests.attacks.sandboxes import WAYS, Sandboxed, sandboxed, usual_bounds

pytestmark = pytest.mark.anyio

BARE = "mkdir -p {0}/objects {0}/refs; touch {0}/HEAD"
STAY = "(setsid sleep 1000 >/dev/null 2>&1 &)"


def files_of(box: Sandboxed) -> list[str]:
    return sorted(os.listdir(box.outside))


@pytest.mark.parametrize("way", WAYS)
async def test_a_link_replacing_a_folder_above_a_repository_grants_nothing(
    tmp_path: Path, way: SandboxMechanism
) -> None:
    """The folder around a repository is mounted; one further up becomes a link that leads outside to the same names."""
    async with sandboxed(tmp_path, way) as box:
        top = f"deep/{box.folder.parent.name}"
        subprocess.run(["sh", "-c", BARE.format(f"{top}/outside")], cwd=box.folder, check=True)
        await box.run(f"{STAY}; mv deep other; ln -s ../.. deep")
        read = await box.run(f"cat {box.outside}/canary; echo x > {box.outside}/made")
        assert "canary-bytes" not in read.output
        assert files_of(box) == ["canary"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_repository_approved_meanwhile_that_becomes_a_link_grants_nothing(
    tmp_path: Path, way: SandboxMechanism
) -> None:
    """A background process does not keep the folders of a repository that did not exist when it started."""
    async with sandboxed(tmp_path, way) as box:
        (box.folder / "work").mkdir()
        top = f"work/deep/{box.folder.parent.name}"
        swapping = "mv work/deep work/other; ln -s ../../.. work/deep; touch work/done"
        swap = f"until [ -e work/go ]; do sleep 0.02; done; {swapping}"
        await box.run(f"(setsid sh -c {swap!r} >/dev/null 2>&1 &)")
        command = BARE.format(f"{top}/outside")
        wait = "touch work/go; until [ -e work/done ]; do sleep 0.02; done"
        await box.run_approved(command)
        subprocess.run(["sh", "-c", wait], cwd=box.folder, check=True, timeout=30)
        read = await box.run(f"cat {box.outside}/canary; echo x > {box.outside}/made")
        assert "canary-bytes" not in read.output
        assert files_of(box) == ["canary"]


async def test_the_settings_of_a_repository_are_protected_wherever_its_folder_is_moved(
    tmp_path: Path,
) -> None:
    async with sandboxed(tmp_path, "bubblewrap") as box:
        inner = box.folder / "a" / "b" / "inner"
        inner.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(inner)], check=True)
        before = (inner / ".git" / "config").read_bytes()
        await box.run(f"{STAY}; mv a c && mkdir -p a/b/inner/.git/hooks && touch a/b/inner/.git/config")
        await box.run("for each in a c; do echo '[core] fsmonitor=x' >> $each/b/inner/.git/config; done")
        settings = [path.read_bytes() for path in box.folder.glob("*/b/inner/.git/config")]
        assert settings == [before]


async def test_a_missing_repository_does_not_prevent_a_command_from_running(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap") as box:
        subprocess.run(["git", "init", "-q", str(box.folder / "inner")], check=True)
        await box.run(STAY)
        shutil.rmtree(box.folder / "inner")
        end = await box.run("echo hello")
        assert end.output == "hello\n"


async def test_read_only_files_stay_so_with_a_repository_around_or_inside_them(tmp_path: Path) -> None:
    folder = (tmp_path / "project").resolve()
    bounds = usual_bounds(readable=(f"{folder}/inner/data", f"{folder}/library"))
    async with sandboxed(tmp_path, "bubblewrap", bounds) as box:
        for name in ("inner", "library/part"):
            subprocess.run(["git", "init", "-q", str(folder / name)], check=True)
        (folder / "inner/data").mkdir()
        end = await box.run("touch inner/data/x library/part/x; touch inner/new && echo made")
        assert end.output.endswith("made\n")
        assert os.listdir(box.folder / "inner/data") == []
        assert os.listdir(box.folder / "library/part") == [".git"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_root_that_looks_like_a_bare_repository_grants_nothing_around_it(
    tmp_path: Path, way: SandboxMechanism
) -> None:
    async with sandboxed(tmp_path, way) as box:
        shutil.rmtree(box.folder / ".git")
        subprocess.run(["sh", "-c", BARE.format(".")], cwd=box.folder, check=True)
        read = await box.run(f"cat {box.outside}/canary; echo x > {box.outside}/made; echo done")
        assert "canary-bytes" not in read.output
        assert "done" in read.output
        assert files_of(box) == ["canary"]


@pytest.mark.parametrize("way", WAYS)
async def test_concurrent_first_commands_share_the_placeholders(
    tmp_path: Path, way: SandboxMechanism
) -> None:
    """`sandboxed` checks at its end that nothing is left."""
    ends: list[CommandResult] = []
    async with sandboxed(tmp_path, way) as box:

        async def run(number: int) -> None:
            ends.append(await box.run(f"touch ${{TMPDIR:-/tmp}}/{number}; echo made"))

        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(run, number)
        there = await box.run("ls ${TMPDIR:-/tmp}")
    assert {"0", "1", "2", "3"} <= set(there.output.split())
    assert {end.output for end in ends} == {"made\n"}


async def test_a_link_on_the_path_to_a_denied_file_creates_nothing_outside(tmp_path: Path) -> None:
    rules = (Rule("deny", path="top/a/plan.txt"),)
    async with sandboxed(tmp_path, "bubblewrap", rules=rules) as box:
        before = box.outside.stat().st_mtime_ns
        await box.run(f"mkdir top && ln -s {box.outside} top/a")
        end = await box.run("echo x > top/a/plan.txt; echo hello")
        assert end.output.endswith("hello\n")
        assert box.outside.stat().st_mtime_ns == before
        await box.run("rm top/a; mkdir top/a")
        await box.run("echo x > top/a/plan.txt")
        assert not (box.folder / "top/a/plan.txt").is_file()
