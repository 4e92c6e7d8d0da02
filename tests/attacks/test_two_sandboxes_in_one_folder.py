"""Two sessions in one folder: placeholders of one are never real files to the other, and fail none of its commands."""

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

from msgspec import structs

from hermes_acp.core.closures import Closure
from hermes_acp.core.rules import Rule
from hermes_acp.policy.rulebook import Rulebook
from hermes_acp.workspaces.processes import Caretaker
from hermes_acp.workspaces.sandbox.detection import find_way
from hermes_acp.workspaces.sandbox.lookout import absent
from hermes_acp.workspaces.sandbox.places import PINNED, survey
from hermes_acp.workspaces.sandbox.sandbox import Sandbox
from hermes_acp.workspaces.sandbox.stand_ins import StandIns
from hermes_acp.workspaces.sandbox.tree_index import Tree
from hermes_acp.workspaces.starts import Shell, start
from tests.attacks.sandboxes import require, usual_bounds

ROUNDS = 25
LOOKS = 500
LINE = "for each in .vscode .envrc shut; do mkdir $each/x && echo open; done 2>/dev/null; echo fine"


def closures(folder: str) -> tuple[Closure, ...]:
    rules = (Rule("deny", path=f"{folder}/shut"), Rule("deny", path="**/*hu*"))
    return Rulebook(rules, folder).closures(("terminal",))


def said_in(folder: str, variables: dict[str, str]) -> str:
    """Run a command in a sandbox of its own; give what it said, and the notices of its end."""
    bounds = structs.replace(usual_bounds(), closed=lambda: closures(folder))
    sandbox = Sandbox((folder,), lambda: variables, lambda: bounds, lambda ip: False)
    try:
        shell = Shell(("/bin/sh", "-c", LINE), folder, variables, "mark-0", 30)
        confined = sandbox.confine(shell, Caretaker())
        try:
            reading, writing = os.pipe()
            with open(os.devnull, "rb") as nothing:
                process = start(confined.shell, nothing.fileno(), writing)
            os.close(writing)
            with open(reading) as output:
                said = output.read()
            process.wait()
        finally:
            told = sandbox.settle(confined, is_over=True)
            sandbox.release(confined)
        return said + told
    finally:
        sandbox.close()


def test_commands_of_two_sessions_in_one_folder_do_not_disturb_each_other(tmp_path: Path) -> None:
    require("bubblewrap", find_way({"PATH": os.defpath}, ()))
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    variables = {"PATH": os.defpath, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}

    def work(rounds: Sequence[int]) -> list[str]:
        return [said_in(str(folder), variables) for _ in rounds]

    with ThreadPoolExecutor(2) as threads:
        said = [each for part in threads.map(work, [range(ROUNDS)] * 2) for each in part]
    assert said == ["fine\n"] * (2 * ROUNDS)
    assert os.listdir(folder) == [".git"]


def test_a_placeholder_that_comes_and_goes_is_never_a_real_file(tmp_path: Path) -> None:
    folder = str(tmp_path.resolve())
    bounds = usual_bounds()
    wanted = survey((folder,), bounds, {}, (), (), Tree()).stand_ins
    ours, theirs, is_over = StandIns(), StandIns(), Event()

    def come_and_go() -> None:
        while not is_over.is_set():
            theirs.release(theirs.hold(wanted))
            theirs.clear()

    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(come_and_go)
        try:
            for _ in range(LOOKS):
                places = survey((folder,), bounds, {}, (), (), Tree())
                assert places.kept == ()
                assert not [path for path in places.hidden if path.startswith(folder)]
                held = ours.hold(places.stand_ins)
                assert [each.path for each in held] == [f"{folder}/{name}" for name in PINNED]
                assert all(map(os.path.isdir, (each.path for each in held)))
                ours.release(held)
                ours.clear()
        finally:
            is_over.set()
            other.result()
    assert os.listdir(folder) == []


def test_a_placeholder_of_another_session_is_absent_to_a_rule(tmp_path: Path) -> None:
    folder = str(tmp_path.resolve())
    shut = closures(folder)
    named = absent((folder,), shut)
    assert named == (f"{folder}/shut",)
    theirs = StandIns()
    wanted = survey((folder,), usual_bounds(), {}, (), (), Tree()).stand_ins[:1]
    held = theirs.hold([structs.replace(each, path=named[0]) for each in wanted])
    assert absent((folder,), shut) == named
    theirs.release(held)
    theirs.clear()
