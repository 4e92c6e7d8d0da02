"""Two sessions in one folder: one's placeholders never look like real files to the other or make its commands fail."""

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

from msgspec import structs

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.policy_rules import Rule
from hermes_acp.policy.rule_set import RuleSet
from hermes_acp.workspaces.processes.process_spawn import ShellCommand, start
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry
from hermes_acp.workspaces.sandbox.command_sandbox import Sandbox
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import detect_sandbox
from hermes_acp.workspaces.sandbox.path_scan import missing_denied
from hermes_acp.workspaces.sandbox.placeholders import Placeholders
from hermes_acp.workspaces.sandbox.sandbox_mounts import PINNED, plan_sandbox_mounts
from hermes_acp.workspaces.sandbox.tree_index import WorkspaceTree
from tests.attacks.sandboxes import require, usual_bounds

ROUNDS = 25
LOOKS = 500
LINE = "for each in .vscode .envrc shut; do mkdir $each/x && echo open; done 2>/dev/null; echo fine"


def denied_paths(folder: str) -> tuple[DeniedPath, ...]:
    rules = (Rule("deny", path=f"{folder}/shut"), Rule("deny", path="**/*hu*"))
    return RuleSet(rules, folder).denied_paths(("terminal",))


def said_in(folder: str, variables: dict[str, str]) -> str:
    """Run a command in its own sandbox; return its output and the notices at its end."""
    bounds = structs.replace(usual_bounds(), closed=lambda: denied_paths(folder))
    sandbox = Sandbox((folder,), lambda: variables, lambda: bounds, lambda ip: False)
    try:
        shell = ShellCommand(("/bin/sh", "-c", LINE), folder, variables, "mark-0", 30)
        confined = sandbox.confine(shell, ProcessRegistry())
        try:
            reading, writing = os.pipe()
            with open(os.devnull, "rb") as nothing:
                process = start(confined.shell, nothing.fileno(), writing)
            os.close(writing)
            with open(reading) as output:
                said = output.read()
            process.wait()
        finally:
            reported = sandbox.settle(confined, is_over=True)
            sandbox.release(confined)
        return said + reported
    finally:
        sandbox.close()


def test_commands_of_two_sessions_in_one_folder_do_not_disturb_each_other(tmp_path: Path) -> None:
    require("bubblewrap", detect_sandbox({"PATH": os.defpath}, ()))
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


def test_a_placeholder_is_never_mistaken_for_a_real_file(tmp_path: Path) -> None:
    folder = str(tmp_path.resolve())
    bounds = usual_bounds()
    wanted = plan_sandbox_mounts((folder,), bounds, {}, (), (), WorkspaceTree()).placeholders
    ours, theirs, is_over = Placeholders(), Placeholders(), Event()

    def come_and_go() -> None:
        while not is_over.is_set():
            theirs.release(theirs.hold(wanted))
            theirs.clear()

    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(come_and_go)
        try:
            for _ in range(LOOKS):
                places = plan_sandbox_mounts((folder,), bounds, {}, (), (), WorkspaceTree())
                assert places.kept == ()
                assert not [path for path in places.hidden if path.startswith(folder)]
                held = ours.hold(places.placeholders)
                assert [each.path for each in held] == [f"{folder}/{name}" for name in PINNED]
                assert all(map(os.path.isdir, (each.path for each in held)))
                ours.release(held)
                ours.clear()
        finally:
            is_over.set()
            other.result()
    assert os.listdir(folder) == []


def test_a_placeholder_of_another_session_counts_as_absent_for_a_rule(tmp_path: Path) -> None:
    folder = str(tmp_path.resolve())
    shut = denied_paths(folder)
    named = missing_denied((folder,), shut)
    assert named == (f"{folder}/shut",)
    theirs = Placeholders()
    wanted = plan_sandbox_mounts((folder,), usual_bounds(), {}, (), (), WorkspaceTree()).placeholders[:1]
    held = theirs.hold([structs.replace(each, path=named[0]) for each in wanted])
    assert missing_denied((folder,), shut) == named
    theirs.release(held)
    theirs.clear()
