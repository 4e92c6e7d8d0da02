"""The index of notable files in a tree stays up to date, whether or not the kernel watches the tree."""

import os
import shutil
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from hermes_acp.policy.sensitive_names import SECRET_FOLDERS, is_protected, is_sensitive
from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames
from hermes_acp.workspaces.sandbox.tree_index import MAX_FOLDERS, TreeIndex
from hermes_acp.workspaces.sandbox.tree_watcher import Changes, Watcher

GUARDED = GuardedNames(secret_folders=SECRET_FOLDERS, protects=is_protected, is_secret=is_sensitive)


@pytest.fixture(params=["watched", "by time"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[TreeIndex]:
    made = TreeIndex((str(tmp_path),), GUARDED, new_watcher=Watcher if request.param == "watched" else blind)
    yield made
    made.close()


def blind() -> Watcher:
    """Return a watcher without an inotify instance."""
    return Watcher(max_instances=0)


def shown(paths: tuple[str, ...], place: Path) -> set[str]:
    return {os.path.relpath(path, place) for path in paths}


def make(place: Path, *names: str) -> None:
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("x")


def repository(place: Path) -> None:
    for name in ("objects", "refs"):
        (place / name).mkdir(parents=True)
    make(place, "HEAD")


def test_secrets_and_protected_names_are_found_at_every_depth(index: TreeIndex, tmp_path: Path) -> None:
    make(
        tmp_path,
        ".env",
        "a/b/c/d/e/f/g/h/.env.local",
        "certs/server.key",
        ".env.example",
        "a/AGENTS.md",
        "a/x.py",
    )
    make(tmp_path, ".github/workflows/ci.yml", "node_modules/x/cacert.pem", "node_modules/x/AGENTS.md")
    tree = index.look()
    assert shown(tree.secrets, tmp_path) == {".env", "a/b/c/d/e/f/g/h/.env.local", "certs/server.key"}
    assert shown(tree.guarded, tmp_path) == {".github", "a/AGENTS.md"}


def test_keys_are_found_in_package_folders_and_certificates_are_not(index: TreeIndex, tmp_path: Path) -> None:
    hidden = {
        "node_modules/.env",
        "node_modules/x/credentials.json",
        "target/.aws",
        "target/.aws/config",
        ".venv/q/.local/share/opencode/auth.json",
        "vendor/site-packages/q/server.pem",
        "vendor/site-packages/q/server.key",
    }
    make(tmp_path, *(hidden - {"target/.aws"}))
    make(tmp_path, "node_modules/x/lib/credentials/index.js", "node_modules/x/ca.pem", ".venv/lib/auth.json")
    for name in ("server.pem", "server.key"):
        (tmp_path / "vendor/site-packages/q" / name).write_text("x\n-----BEGIN RSA PRIVATE KEY-----\n")
    assert shown(index.look().secrets, tmp_path) == hidden


def test_added_and_removed_files_are_noticed(index: TreeIndex, tmp_path: Path) -> None:
    make(tmp_path, "a/b/.env")
    assert shown(index.look().secrets, tmp_path) == {"a/b/.env"}
    make(tmp_path, "a/c/d/id_rsa")
    assert shown(index.look().secrets, tmp_path) == {"a/b/.env", "a/c/d/id_rsa"}
    os.rename(tmp_path / "a", tmp_path / "z")
    assert shown(index.look().secrets, tmp_path) == {"z/b/.env", "z/c/d/id_rsa"}
    make(tmp_path, "a/.env")
    assert shown(index.look().secrets, tmp_path) == {"a/.env", "z/b/.env", "z/c/d/id_rsa"}
    make(tmp_path, "z/c/d/.netrc")
    assert shown(index.look().secrets, tmp_path) >= {"z/c/d/.netrc"}
    shutil.rmtree(tmp_path / "z")
    make(tmp_path, "z/b/new/.env")
    assert shown(index.look().secrets, tmp_path) == {"a/.env", "z/b/new/.env"}
    (tmp_path / "a/.env").unlink()
    assert shown(index.look().secrets, tmp_path) == {"z/b/new/.env"}


def test_a_replaced_folder_is_listed_again(index: TreeIndex, tmp_path: Path) -> None:
    make(tmp_path, "a/x", "b/.env")
    index.look()
    os.rename(tmp_path / "a", tmp_path / "t")
    os.rename(tmp_path / "b", tmp_path / "a")
    os.rename(tmp_path / "t", tmp_path / "b")
    assert shown(index.look().secrets, tmp_path) == {"a/.env"}
    make(tmp_path, "b/.npmrc")
    assert shown(index.look().secrets, tmp_path) == {"a/.env", "b/.npmrc"}


def test_sockets_are_found(index: TreeIndex, tmp_path: Path) -> None:
    make(tmp_path, "run/x")
    index.look()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "run/door"))
        assert shown(index.look().sockets, tmp_path) == {"run/door"}


def test_repositories_are_found_again_after_changes(index: TreeIndex, tmp_path: Path) -> None:
    repository(tmp_path / "a/b/c/d/e/f/g/h/i/.git")
    repository(tmp_path / "bare")
    repository(tmp_path / "node_modules/x/.git")
    make(tmp_path, "bare/hidden/.env", "linked/HEAD", "linked/commondir")
    tree = index.look()
    assert shown(tree.repositories, tmp_path) == {
        "a/b/c/d/e/f/g/h/i/.git",
        "bare",
        "linked",
        "node_modules/x/.git",
    }
    assert shown(tree.secrets, tmp_path) == {"bare/hidden/.env"}
    repository(tmp_path / "a/later/.git")
    assert f"{tmp_path}/a/later/.git" in index.look().repositories


def test_a_root_within_a_protected_folder_is_an_ordinary_root(tmp_path: Path) -> None:
    root = tmp_path / ".claude/worktrees/project"
    make(root, "x.py", ".config/x", "src/y.py")
    index = TreeIndex((str(root),), GUARDED)
    assert index.look().guarded == ()
    index.close()


def test_the_number_of_folders_is_limited(tmp_path: Path) -> None:
    assert MAX_FOLDERS >= 10_000
    make(tmp_path, "a/.env", "b/c/.env", "b/d/.env", "node_modules/x/y")
    index = TreeIndex((str(tmp_path),), GUARDED, max_folders=3)
    assert shown(index.look().secrets, tmp_path) == {"a/.env"}
    index.close()


def test_enough_inotify_instances_are_left_for_other_programs(tmp_path: Path) -> None:
    watcher = blind()
    assert not watcher.watch(str(tmp_path))
    assert watcher.changes() == Changes()
    watcher.close()
