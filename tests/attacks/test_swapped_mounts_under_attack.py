"""Folders swapped for links between check and mount, and folders on the path to our own files."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes_acp.workspaces.command_environment import command_environment
from hermes_acp.workspaces.processes.process_spawn import ShellCommand, start
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry
from hermes_acp.workspaces.sandbox.command_sandbox import Sandbox
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import detect_sandbox
from hermes_acp.workspaces.sandbox.placeholders import Placeholders
from hermes_acp.workspaces.sandbox.sandbox_mounts import Placeholder
from tests.attacks.sandboxes import require, sandboxed, usual_bounds

pytestmark = pytest.mark.anyio

SAME_NAMES = "mkdir -p ~/outside/.git/hooks; touch ~/outside/.git/config ~/outside/.git/commondir"


class Ground:
    """A session's folder with a repository, another repository in the home, and the sandbox of the first.

    A command sees its own home, and can create the same names there as outside.
    """

    def __init__(self, place: Path) -> None:
        require("bubblewrap", detect_sandbox({"PATH": os.defpath}, ()))
        self.folder = (place / "project").resolve()
        self.outside = (place / "home" / "outside").resolve()
        self.inner = self.folder / "inner"
        for each in (self.inner, self.outside):
            each.mkdir(parents=True)
            subprocess.run(["git", "init", "-q", str(each)], check=True)
        (self.outside / ".git/config").write_text("canary-bytes")
        (self.outside / ".git/canary").write_text("canary-bytes")
        self.variables = command_environment(
            {"PATH": os.defpath, "TMPDIR": str(place), "HOME": str(place / "home")}
        )
        root = str(self.folder)
        self.sandbox = Sandbox((root,), lambda: self.variables, usual_bounds, lambda ip: False)

    def outcome(self, line: str, between: str = "") -> str:
        """Prepare a command, do something to the folder `between`, start the command, and return its output."""
        shell = ShellCommand(("/bin/sh", "-c", line), str(self.folder), self.variables, "mark-0", 30)
        try:
            confined = self.sandbox.confine(shell, ProcessRegistry())
        except OSError:  # The file was replaced after it was checked.
            return ""
        try:
            subprocess.run(["sh", "-c", between], cwd=self.folder, check=True)
            reading, writing = os.pipe()
            with open(os.devnull, "rb") as nothing:
                process = start(confined.shell, nothing.fileno(), writing)
            os.close(writing)
            with open(reading) as output:
                said = output.read()
            process.wait()
            return said
        finally:
            self.sandbox.settle(confined, is_over=True)
            self.sandbox.release(confined)

    @property
    def things_outside(self) -> list[str]:
        return sorted(os.listdir(self.outside / ".git"))


@contextmanager
def prepared(place: Path) -> Generator[Ground]:
    ground = Ground(place)
    try:
        yield ground
    finally:
        ground.sandbox.close()


@pytest.mark.parametrize(
    "swap",
    [
        "mv inner gone; ln -s ../home/outside inner",
        "mv inner/.git gone; ln -s ../../home/outside/.git inner/.git",
        "rm inner/.git/config; ln -s ../../../home/outside/.git/config inner/.git/config",
    ],
)
def test_a_link_created_after_the_check_reveals_nothing(tmp_path: Path, swap: str) -> None:
    with prepared(tmp_path) as ground:
        before = ground.things_outside
        ground.outcome(SAME_NAMES)
        said = ground.outcome("cat inner/.git/config inner/.git/canary; echo x > inner/.git/made", swap)
        assert "canary-bytes" not in said
        assert ground.things_outside == before


def test_descriptors_that_hold_folders_for_a_sandbox_are_not_open_in_it(tmp_path: Path) -> None:
    with prepared(tmp_path) as ground:
        ground.outcome("true")
        before = len(os.listdir("/proc/self/fd"))
        said = ground.outcome("for each in self 1; do ls -l /proc/$each/fd/; done")
        assert len(os.listdir("/proc/self/fd")) == before
    targets = [line.partition(" -> ")[2] for line in said.splitlines() if " -> " in line]
    assert targets
    assert not [each for each in targets if str(ground.folder) in each]


def test_a_temporary_folder_inside_the_workspace_grants_nothing(tmp_path: Path) -> None:
    """A command cannot rename our files in the temporary folder, but it can rename the folder that contains them."""
    place = tmp_path / "project" / "its" / "temporary"
    place.mkdir(parents=True)
    with prepared(tmp_path) as ground:
        ground.variables = {**ground.variables, "TMPDIR": str(place)}
        named = "$(ls its/temporary)"
        move = f"name={named}; mv its other; mkdir -p its/temporary/$name"
        links = "for each in tmp home empty; do ln -s $PWD/../home/outside its/temporary/$name/$each; done"
        bad = "printf '\\6\\0\\0\\0\\0\\0\\377\\177' > its/temporary/$name/filter"
        ground.outcome(f"{move}; {links}; {bad}")
        said = ground.outcome("cat /tmp/.git/canary; echo x > /tmp/.git/made; unshare -U true && echo free")
        assert "canary-bytes" not in said
        assert "free" not in said
        assert "made" not in ground.things_outside


def test_hidden_files_stay_hidden_wherever_the_folders_above_them_move(tmp_path: Path) -> None:
    """The agent's own home may be in the workspace."""
    with prepared(tmp_path) as ground:
        home = ground.folder / "a" / "b" / "home"
        home.mkdir(parents=True)
        (home / "key").write_text("canary-bytes")
        root = str(ground.folder)
        ground.sandbox = Sandbox(
            (root,), lambda: ground.variables, usual_bounds, lambda ip: False, hidden=(str(home),)
        )
        ground.outcome("mv a c; mv c/b c/d")
        assert "canary-bytes" not in ground.outcome("cat */*/home/key")


def test_no_placeholder_is_created_at_the_target_of_a_link(tmp_path: Path) -> None:
    outside = (tmp_path / "outside").resolve()
    outside.mkdir()
    (tmp_path / "inner").symlink_to(outside)
    placeholders = Placeholders()
    path = str(tmp_path.resolve() / "inner")
    assert placeholders.hold((Placeholder(f"{path}/hooks"), Placeholder(f"{path}/commondir", b".\n"))) == ()
    assert os.listdir(outside) == []


def test_nothing_is_removed_at_the_target_of_a_link(tmp_path: Path) -> None:
    inner, outside = tmp_path.resolve() / "inner", tmp_path.resolve() / "outside"
    (outside / "hooks").mkdir(parents=True)
    inner.mkdir()
    placeholders = Placeholders()
    held = placeholders.hold((Placeholder(f"{inner}/hooks"),))
    assert len(held) == 1
    inner.rename(tmp_path / "gone")
    inner.symlink_to(outside)
    placeholders.release(held)
    placeholders.clear()
    assert os.listdir(outside) == ["hooks"]


async def test_a_pipe_in_place_of_settings_blocks_nothing(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap") as box:
        (box.folder / "inner" / ".git" / "objects").mkdir(parents=True)
        os.mkfifo(box.folder / "inner" / ".git" / "config")
        end = await box.run("echo ran")
        assert "ran" in end.output
