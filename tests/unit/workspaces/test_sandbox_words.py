"""Arguments, mounts and filters of a sandbox, tested without running one."""

import os
import struct
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

from hermes_acp.policy.sensitive_names import PROTECTED_FILES, PROTECTED_FOLDERS, SECRET_FOLDERS
from hermes_acp.workspaces.processes.rlimit_tags import tag_of, tagged_argv
from hermes_acp.workspaces.sandbox.egress_proxy import is_allowed
from hermes_acp.workspaces.sandbox.git_use import names_git
from hermes_acp.workspaces.sandbox.mechanisms.bubblewrap import SandboxResources, bubblewrap_args
from hermes_acp.workspaces.sandbox.mechanisms.seccomp import (
    INTERNET,
    LOCAL,
    NETLINK,
    build_filter,
    supports_filters,
)
from hermes_acp.workspaces.sandbox.path_handles import PathHandles
from hermes_acp.workspaces.sandbox.placeholders import Placeholders
from hermes_acp.workspaces.sandbox.sandbox_mounts import (
    PINNED,
    PLACEHOLDER_CONTENT,
    Placeholder,
    plan_sandbox_mounts,
)
from hermes_acp.workspaces.sandbox.sandbox_policy import (
    DEFAULT_VARIABLES,
    CommandMode,
    GuardedNames,
    SandboxPolicy,
    is_any_of,
)
from hermes_acp.workspaces.sandbox.tree_index import WorkspaceTree

BOUNDS = SandboxPolicy(guarded=GuardedNames(PROTECTED_FOLDERS, PROTECTED_FILES, SECRET_FOLDERS))
needs_filters = pytest.mark.skipif(not supports_filters(), reason="no filters for this architecture")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    for name in (".git/hooks", ".git/objects", ".vscode", ".ssh", "src"):
        (place / name).mkdir(parents=True)
    for name in (".git/config", "AGENTS.md", "src/main.py", ".ssh/id_rsa"):
        (place / name).write_text("x")
    return place


def test_files_that_run_later_are_read_only_and_missing_ones_have_a_placeholder(root: Path) -> None:
    places = plan_sandbox_mounts((str(root),), BOUNDS, {"PATH": os.defpath}, (), opens_git=True)
    kept = {os.path.relpath(path, root) for path in places.kept}
    assert kept == {".git/hooks", ".git/config", ".vscode", "AGENTS.md"}
    assert [os.path.relpath(path, root) for path in places.pinned] == [".git"]
    stood_in = {os.path.relpath(each.path, root): each.content for each in places.placeholders}
    assert stood_in == {**dict.fromkeys(set(PINNED) - {".vscode"}), ".git/commondir": PLACEHOLDER_CONTENT}
    assert f"{root}/.ssh" in places.hidden
    assert places.writable == (str(root),)


def test_a_git_directory_is_protected_unless_the_command_needs_it(root: Path) -> None:
    (root / "lib/.git/objects").mkdir(parents=True)
    (root / "lib/.git/HEAD").write_text("x")
    places = plan_sandbox_mounts((str(root),), BOUNDS, {"PATH": os.defpath}, ())
    kept = {os.path.relpath(path, root) for path in places.kept}
    assert kept == {".git", "lib/.git", ".vscode", "AGENTS.md"}
    assert f"{root}/lib" in places.pinned
    assert not [each for each in places.placeholders if "/.git/" in each.path]
    inner = plan_sandbox_mounts(
        (f"{root}/.git/objects",), BOUNDS, {}, (), (), WorkspaceTree(repositories=(f"{root}/.git",))
    )
    assert f"{root}/.git" not in inner.kept


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("git commit -m x", True),
        ("cd a && /usr/bin/git stash", True),
        ("X=1 git-lfs pull", True),
        ("gh pr checkout 1", True),
        ("pre-commit run", True),
        ("make release", False),
        ("cat .git/HEAD .gitignore", False),
        ("pip install git+https://example.com/x.git", False),
        ("ls src/git/ my-git digit", False),
    ],
)
def test_a_config_line_that_names_a_program_for_git_is_reported(line: str, names: bool) -> None:
    assert names_git(line) is names


def test_a_folder_that_another_sandbox_replaced_is_absent(root: Path) -> None:
    held = Placeholder(f"{root}/.envrc")
    (root / ".envrc").mkdir()
    places = plan_sandbox_mounts((str(root),), BOUNDS, {"PATH": os.defpath}, (), (held,))
    assert held in places.placeholders
    assert held.path not in places.kept


def test_nothing_is_mounted_over_a_mere_placeholder(root: Path) -> None:
    for name in (".envrc", ".env.local"):
        (root / name).mkdir()
        (root / name).chmod(0o1755)
    seen = WorkspaceTree(
        secrets=(f"{root}/.envrc", f"{root}/.env.local", f"{root}/gone/.env", f"{root}/src/main.py")
    )
    places = plan_sandbox_mounts((str(root),), BOUNDS, {"PATH": os.defpath}, (), (), seen)
    assert {path for path in places.hidden if path.startswith(str(root))} == {
        f"{root}/.ssh",
        f"{root}/src/main.py",
    }


def test_a_linked_work_tree_shows_its_repository_only_if_that_lists_it(tmp_path: Path) -> None:
    tree, inner = tmp_path / "tree", tmp_path / "main/.git/worktrees/tree"
    tree.mkdir()
    inner.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {inner}\n")
    assert str(tmp_path / "main/.git") not in plan_sandbox_mounts((str(tree),), BOUNDS, {}, ()).read_only
    (inner / "gitdir").write_text(f"{tree}/.git\n")
    assert str(tmp_path / "main/.git") in plan_sandbox_mounts((str(tree),), BOUNDS, {}, ()).read_only
    (tree / ".git").write_text("gitdir: /etc\n")
    assert "/etc" not in plan_sandbox_mounts((str(tree),), BOUNDS, {}, ()).read_only


def test_programs_in_the_workspace_stay_writable_but_toolchains_do_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in (".cargo/bin", "project/.venv/bin", ".elsewhere/bin", ".config/autostart"):
        (home / name).mkdir(parents=True)
    path = f"{home}/project/.venv/bin:{home}/.cargo/bin:{home}/.elsewhere/bin:relative"
    whole = plan_sandbox_mounts((str(home),), BOUNDS, {"PATH": path, "HOME": str(home)}, ())
    assert {f"{home}/.cargo", f"{home}/.config"} <= set(whole.kept)
    assert whole.read_only == ()
    part = plan_sandbox_mounts((f"{home}/project",), BOUNDS, {"PATH": path, "HOME": str(home)}, ())
    assert set(part.read_only) == {f"{home}/.cargo", f"{home}/.elsewhere/bin"}


def test_mounts_are_stacked_in_order(root: Path) -> None:
    places = plan_sandbox_mounts((str(root),), BOUNDS, {"PATH": os.defpath}, (), opens_git=True)
    room = SandboxResources("/x/tmp", "/x/home", "/x/empty")
    path_handles = PathHandles({}, are_taken=False)
    words = bubblewrap_args("bwrap", places, room, str(root), "/home/me", path_handles, CommandMode())
    binds = [
        (option, target) for option, target in zip(words, words[2:], strict=False) if option.endswith("bind")
    ]
    assert binds.index(("--bind", "/tmp")) < binds.index(("--bind", str(root)))
    assert binds.index(("--bind", str(root))) < binds.index(("--ro-bind", f"{root}/.git/hooks"))
    assert {"--unshare-all", "--new-session", "--seccomp"} <= set(words)
    assert "--share-net" not in words
    assert ("/", "/") not in set(pairwise(words))
    in_terminal = bubblewrap_args(
        "bwrap", places, room, "/", "/home/me", path_handles, CommandMode(in_terminal=True)
    )
    path_handles.let_go()
    assert "--new-session" not in in_terminal


def test_an_open_path_is_named_by_its_descriptor_and_a_link_is_not_mounted(root: Path) -> None:
    (root / "link").symlink_to("src")
    places = plan_sandbox_mounts((str(root),), BOUNDS, {"PATH": os.defpath}, (), opens_git=True)
    places = structs.replace(places, pinned=(*places.pinned, f"{root}/link", f"{root}/src", f"{root}/gone"))
    path_handles = PathHandles({})
    words = bubblewrap_args(
        "bwrap",
        places,
        SandboxResources("/", "/", "/"),
        str(root),
        "/",
        path_handles,
        CommandMode(in_terminal=True),
    )
    held = {
        target: os.stat(int(number))
        for option, number, target in zip(words, words[1:], words[2:], strict=False)
        if option.endswith("bind-fd")
    }
    passed = path_handles.all
    path_handles.let_go()
    assert len(passed) == len(set(passed)) == len(held) + 1
    for target in (root, root / ".git", root / "src", root / ".git/config"):
        assert os.path.samestat(held[str(target)], target.stat())
    assert not {f"{root}/link", f"{root}/gone"} & set(held)
    for descriptor in passed:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_placeholders_of_another_session_are_shared_and_removed_with_the_last(tmp_path: Path) -> None:
    wanted = (Placeholder(f"{tmp_path}/.envrc"), Placeholder(f"{tmp_path}/commondir", PLACEHOLDER_CONTENT))
    first, second = Placeholders(), Placeholders()
    ours, theirs = first.hold(wanted), second.hold(wanted)
    assert ours == theirs == wanted
    first.release(ours)
    first.clear()
    assert sorted(os.listdir(tmp_path)) == [".envrc", "commondir"]
    second.release(theirs)
    second.clear()
    assert os.listdir(tmp_path) == []


def test_placeholders_stay_while_somebody_reads(tmp_path: Path) -> None:
    wanted = (Placeholder(f"{tmp_path}/.envrc"),)
    placeholders = Placeholders()
    held = placeholders.hold(wanted)
    with placeholders.kept_in_place():
        placeholders.release(held)
        placeholders.clear()
        assert os.listdir(tmp_path) == [".envrc"]
        assert placeholders.hold(placeholders.held()) == wanted
    placeholders.clear()
    assert os.listdir(tmp_path) == [".envrc"]
    placeholders.release(wanted)
    placeholders.clear()
    assert os.listdir(tmp_path) == []


def test_placeholders_left_by_a_killed_session_are_not_real_files(root: Path) -> None:
    left = (Placeholder(f"{root}/.envrc"), Placeholder(f"{root}/.git/commondir", PLACEHOLDER_CONTENT))
    (root / ".envrc").mkdir()
    (root / ".git/commondir").write_bytes(PLACEHOLDER_CONTENT)
    for each in left:
        os.chmod(each.path, 0o1755)
    places = plan_sandbox_mounts((str(root),), BOUNDS, {"PATH": os.defpath}, (), opens_git=True)
    assert set(left) <= set(places.placeholders)
    assert not {each.path for each in left} & set(places.kept)
    later = Placeholders()
    later.release(later.hold(left))
    later.clear()
    assert not (root / ".envrc").exists()
    assert not (root / ".git/commondir").exists()


def test_placeholders_are_counted_and_files_made_by_others_are_kept(tmp_path: Path) -> None:
    folder, file = (
        Placeholder(str(tmp_path / ".envrc")),
        Placeholder(str(tmp_path / "commondir"), PLACEHOLDER_CONTENT),
    )
    placeholders = Placeholders()
    first, second = placeholders.hold((folder, file)), placeholders.hold((folder, file))
    assert first == second == (folder, file)
    placeholders.release(first)
    placeholders.clear()
    assert sorted(os.listdir(tmp_path)) == [".envrc", "commondir"]
    (tmp_path / "commondir").write_text("mine")
    placeholders.release(second)
    placeholders.clear()
    assert os.listdir(tmp_path) == ["commondir"]
    assert placeholders.hold((file,)) == ()


@needs_filters
def test_a_filter_consists_of_complete_instructions_with_internal_jumps() -> None:
    for families in ((), (LOCAL, *INTERNET, NETLINK)):
        program = build_filter(families)
        words = list(struct.iter_unpack("<HBBI", program))
        assert len(program) == 8 * len(words) < 8 * 4096
        assert words[-1] == (0x06, 0, 0, 0x7FFF0000)
        for place, (code, if_true, if_false, _) in enumerate(words):
            if code & 0x07 == 0x05:
                assert max(if_true, if_false) + place + 1 < len(words)


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("pypi.org", 443, True),
        ("PyPI.org.", 80, True),
        ("pypi.org", 22, False),
        ("pypi.org.evil.com", 443, False),
        ("evilpypi.org", 443, False),
        ("a.crates.io", 443, True),
        ("crates.io", 443, False),
        ("evilcrates.io", 443, False),
        ("git.example.com", 8443, True),
        ("git.example.com", 443, False),
    ],
)
def test_hosts_are_allowed_by_name_and_port(host: str, port: int, *, expected: bool) -> None:
    assert is_allowed(host, port, ("pypi.org", "*.crates.io", "git.example.com:8443")) is expected


def test_variables_are_passed_on_by_name() -> None:
    assert is_any_of("LC_ALL", DEFAULT_VARIABLES)
    for name in (
        "SSH_AUTH_SOCK",
        "DOCKER_HOST",
        "DBUS_SESSION_BUS_ADDRESS",
        "LD_PRELOAD",
        "XDG_RUNTIME_DIR",
        "LC",
    ):
        assert not is_any_of(name, DEFAULT_VARIABLES), name


def test_a_tag_is_derived_from_a_mark() -> None:
    assert tag_of("0123456789ab-0123456789abcdef") == 0x0123456789ABCDE
    assert tag_of("none") == 0
    assert tagged_argv(0, ("a",)) == ("a",)
    assert tagged_argv(7, ("a", "b"))[-2:] == ("a", "b")
