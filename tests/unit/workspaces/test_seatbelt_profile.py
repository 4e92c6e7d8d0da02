"""The profile for macOS's sandbox, parsed with a parser for its language and evaluated as its kernel would."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from hermes_acp.workspaces.command_environment import command_environment
from hermes_acp.workspaces.processes.process_spawn import ShellCommand
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry
from hermes_acp.workspaces.sandbox.command_sandbox import Sandbox
from hermes_acp.workspaces.sandbox.mechanisms.bubblewrap import SandboxResources
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import DetectedSandbox, detect_seatbelt
from hermes_acp.workspaces.sandbox.mechanisms.seatbelt import build_profile
from hermes_acp.workspaces.sandbox.mechanisms.seatbelt_check import NEEDED, find_seatbelt_fault
from hermes_acp.workspaces.sandbox.sandbox_mounts import Placeholder, SandboxMounts
from hermes_acp.workspaces.sandbox.sandbox_policy import USUAL_MODE, CommandMode, SandboxPolicy
from tests.unit.workspaces.seatbelt_rules import Rule, is_allowed, parse

OWN = SandboxResources("/private/cell/tmp", "/private/cell/home", "/private/cell/empty")
MOUNTS = SandboxMounts(
    system=("/usr", "/bin"),
    read_only=("/Users/ann/.cargo",),
    writable=("/Users/ann/shop",),
    pinned=("/Users/ann/shop/.git",),
    kept=("/Users/ann/shop/a/b/.vscode", "/Users/ann/shop/.git/hooks"),
    hidden=("/Users/ann/shop/deep/.env", "/private/cell", "/Users/ann/.cargo/credentials"),
    placeholders=(Placeholder("/Users/ann/shop/.envrc"),),
)
SHOP = "/Users/ann/shop"


def rules_of(mounts: SandboxMounts = MOUNTS, resources: SandboxResources = OWN) -> list[Rule]:
    profile = build_profile(mounts, resources)
    return parse(profile.text, profile.parameters)


@pytest.mark.parametrize(
    ("operation", "subject"),
    [
        ("file-read-data", f"{SHOP}/main.py"),
        ("file-write-data", f"{SHOP}/main.py"),
        ("file-write-create", f"{SHOP}/new/deep.py"),
        ("file-write-unlink", f"{SHOP}/main.py"),
        ("file-write-unlink", f"{SHOP}/other"),
        ("file-read-data", f"{SHOP}/a/b/.vscode/settings.json"),
        ("file-read-data", "/usr/lib/libSystem.dylib"),
        ("file-read-data", "/System/Library/CoreServices/SystemVersion.plist"),
        ("file-read-data", "/Users/ann/.cargo/bin/cargo"),
        ("file-write-create", "/private/cell/tmp/scratch"),
        ("file-read-data", "/private/cell/home/.cache"),
        ("file-write-data", "/dev/null"),
        ("process-exec", "/bin/ls"),
        ("sysctl-read", "hw.ncpu"),
    ],
)
def test_operations_that_a_command_can_do(operation: str, subject: str) -> None:
    assert is_allowed(rules_of(), operation, subject)


@pytest.mark.parametrize(
    ("operation", "subject"),
    [
        ("file-read-data", "/Users/ann/.ssh/id_ed25519"),
        ("file-read-data", "/Users/ben/notes"),
        ("file-read-data", "/Library/Keychains/System.keychain"),
        ("file-write-create", "/Users/ann/other/new"),
        ("file-write-create", "/Users/ann/shop-2/new"),
        ("file-write-data", "/usr/bin/git"),
        ("file-read-data", f"{SHOP}/deep/.env"),
        ("file-write-data", f"{SHOP}/deep/.env"),
        ("file-read-data", "/Users/ann/.cargo/credentials"),
        ("file-write-create", f"{SHOP}/a/b/.vscode/tasks.json"),
        ("file-write-data", f"{SHOP}/.git/hooks/pre-commit"),
        ("file-write-create", f"{SHOP}/.envrc"),
        ("file-write-unlink", SHOP),
        ("file-write-unlink", f"{SHOP}/.git"),
        ("file-write-unlink", f"{SHOP}/a"),
        ("file-write-unlink", f"{SHOP}/a/b"),
        ("file-write-unlink", f"{SHOP}/deep"),
        ("file-write-setugid", f"{SHOP}/main.py"),
        ("file-write-setugid", "/private/cell/tmp/scratch"),
        ("file-link", f"{SHOP}/main.py"),
        ("file-read-data", "/private/cell/proxy"),
        ("network-outbound", "*:*"),
        ("network-outbound", "/private/var/run/mDNSResponder"),
        ("sysctl-read", "kern.procargs2"),
        ("mach-lookup", "com.apple.SecurityServer"),
        ("mach-register", "com.example"),
    ],
)
def test_operations_that_a_command_cannot_do(operation: str, subject: str) -> None:
    assert not is_allowed(rules_of(), operation, subject)


def test_a_read_only_command_writes_only_its_own_folders() -> None:
    rules = rules_of(MOUNTS.read_only_view())
    assert is_allowed(rules, "file-read-data", f"{SHOP}/main.py")
    assert not is_allowed(rules, "file-write-data", f"{SHOP}/main.py")
    assert is_allowed(rules, "file-write-create", "/private/cell/tmp/scratch")


def test_a_network_reaches_hosts_but_no_local_sockets() -> None:
    own = SandboxResources(OWN.temporary, OWN.home, OWN.empty, network=True)
    rules = rules_of(resources=own)
    assert is_allowed(rules, "network-outbound", "*:*")
    assert not is_allowed(rules, "network-outbound", "/private/tmp/agent.sock")


def test_a_path_is_a_value_and_never_part_of_the_profile() -> None:
    odd = '/Users/ann/") (allow default) ("'
    profile = build_profile(SandboxMounts((), (), (odd,), (), (), (), ()), OWN)
    assert "allow default" not in profile.text
    assert odd in profile.parameters
    assert f"-DP{profile.parameters.index(odd)}={odd}" in profile.arguments()


def test_a_link_in_the_workspace_grants_no_access_to_its_target(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (tmp_path / "outside").mkdir()
    folder.mkdir()
    (folder / "kept").symlink_to(tmp_path / "outside")
    mounts = SandboxMounts((), (), (str(folder),), (), (f"{folder}/kept",), (), ())
    assert f"{folder}/kept" in build_profile(mounts, OWN).parameters
    assert str(tmp_path / "outside") not in build_profile(mounts, OWN).parameters


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_a_sandbox_that_does_not_confine_is_not_used(tmp_path: Path) -> None:
    lax = script(tmp_path / "lax", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    assert "can write outside the workspace" in find_seatbelt_fault(lax)
    assert detect_seatbelt(lax).way == "none"


def test_a_sandbox_that_does_not_start_is_not_used(tmp_path: Path) -> None:
    broken = script(tmp_path / "broken", "echo 'sandbox-exec: unbound variable: file-link' >&2; exit 65")
    fault = find_seatbelt_fault(broken)
    assert "cannot write in the workspace" in fault
    assert "unbound variable" in fault
    assert "is missing" in find_seatbelt_fault(str(tmp_path / "none"))


def test_a_sandbox_that_confines_is_used(tmp_path: Path) -> None:
    good = script(tmp_path / "good", "seq " + str(len(NEEDED)))
    assert find_seatbelt_fault(good) == ""
    assert detect_seatbelt(good).program == good


@pytest.mark.parametrize("is_read_only", [False, True])
def test_a_command_enters_the_sandbox_with_its_own_home(tmp_path: Path, is_read_only: bool) -> None:
    folder = tmp_path / "folder"
    subprocess.run(("git", "init", "--quiet", str(folder)), check=True)
    found = DetectedSandbox("seatbelt", "/usr/bin/sandbox-exec")

    def find(environment: Mapping[str, str], roots: Sequence[str]) -> DetectedSandbox:
        assert (environment["PATH"], roots) == (os.defpath, (str(folder),))
        return found

    sandbox = Sandbox(
        (str(folder),),
        lambda: command_environment({"PATH": os.defpath, "HOME": str(tmp_path)}),
        SandboxPolicy,
        lambda _: False,
        find=find,
    )
    shell = ShellCommand(("/bin/sh", "-c", "true"), str(folder), {}, "mark-0123456789abcdef", 5.0)
    mode = CommandMode(is_read_only=True) if is_read_only else USUAL_MODE
    confined = sandbox.confine(shell, ProcessRegistry(), mode)
    words = confined.shell.argv
    text = words[words.index("-p") + 1]
    rules = parse(text, [word.partition("=")[2] for word in words if word.startswith("-DP")])
    own = confined.shell.environment["HOME"]
    assert words[0] == "/usr/bin/sandbox-exec"
    assert words[-3:] == ("/bin/sh", "-c", "true")
    assert is_allowed(rules, "file-write-create", f"{own}/file")
    assert is_allowed(rules, "file-write-create", f"{folder}/file") is not is_read_only
    assert not is_allowed(rules, "file-write-create", f"{folder}/.git/config")
    assert ".git is only read" in sandbox.describe(USUAL_MODE)
    assert sandbox.settle(confined, is_over=True) == ""
    sandbox.release(confined)
    sandbox.close()
    assert os.listdir(folder) == [".git"]
