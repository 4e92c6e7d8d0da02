"""Readers for which a file of the workspace chooses what runs, or which files elsewhere are shown."""

import os
from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.rules import Policy


def decision(command: str, cwd: Path, search_path: tuple[str, ...] = ("/usr/bin", "/bin")) -> str:
    return (
        Policy("/home/me/.hermes", "/home/me", search_path)
        .judge([Runs(command, str(cwd), (str(cwd),))], "ask", ())
        .decision
    )


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".git" / "objects" / "info").mkdir(parents=True)
    (folder / ".git" / "config").write_text("[core]\n\tbare = false\n")
    (folder / "src").mkdir()
    return folder


@pytest.mark.parametrize(
    ("config", "command"),
    [
        ("[log]\n\tdiffMerges = remerge\n", "git log -p -m"),
        ("[log]\n\tDIFFMERGES=r\n", "git show -m"),
        ("[blame]\n\tignoreRevsFile = /home/me/.netrc\n", "git blame a.py"),
        ("[blame]\n\tignoreRevsFile = ~/.netrc\n", "git blame a.py"),
        ("[blame] ignorerevsfile = ../../.netrc\n", "git blame a.py"),
        ("[blame]\n\tignoreRevsFile = %(prefix)/../etc/x\n", "git blame a.py"),
        ("[fsck]\n\tskipList = /home/me/.netrc\n", "git fsck"),
        ("[core]\n\tattributesFile = /home/me/.netrc\n", "git check-attr -a machine"),
        ("[core]\n\texcludesFile = ../secrets\n", "git check-ignore -v x"),
        ("[mailmap]\n\tfile = ../secrets\n", "git shortlog -sne HEAD"),
        ("[mailmap] file = ../secrets\n", "git shortlog -sne HEAD"),
    ],
)
def test_a_configuration_shows_no_files_elsewhere(config: str, command: str, work: Path) -> None:
    assert decision(command, work) == "allow"
    (work / ".git" / "config").write_text(config)
    assert decision(command, work) == "ask"


def test_a_list_of_revisions_in_the_workspace_is_no_hazard(work: Path) -> None:
    (work / ".git" / "config").write_text("[blame]\n\tignoreRevsFile = .git-blame-ignore-revs\n")
    assert decision("git blame a.py", work) == "allow"
    (work / ".git-blame-ignore-revs").symlink_to("/home/me/.netrc")
    assert decision("git blame a.py", work) == "ask"


def test_objects_of_another_repository_are_asked_about(work: Path) -> None:
    lent = work / ".git" / "objects" / "info" / "alternates"
    lent.write_text(f"{work}/.git/modules/a/objects\n../modules/b/objects\n")
    assert decision("git fsck", work) == "allow"
    for line in ("/home/me/other/.git/objects", "../../../other/.git/objects", '"/home/me/other"'):
        lent.write_text(f"# lent\n{line}\n")
        assert decision("git fsck", work) == "ask"


def test_folders_that_are_compared_are_looked_through(work: Path) -> None:
    for name in ("old", "new"):
        (work / name).mkdir()
        (work / name / "a.txt").write_text("one\n")
    for command in ("diff old new", "diff -r old new", "git diff --no-index old new"):
        assert decision(command, work) == "allow"
        (work / "old" / ".env").write_text("KEY=hunter2\n")
        assert decision(command, work) == "ask"
        (work / "old" / ".env").unlink()
    (work / "old" / "link").symlink_to("/etc/shadow")
    assert decision("diff old new", work) == "ask"
    assert decision("diff -r --no-dereference old new", work) == "allow"
    assert decision("git diff --no-index old new", work) == "allow"


def test_a_script_does_not_choose_what_else_is_checked(work: Path) -> None:
    assert decision("shellcheck src/a.sh", work) == "allow"
    (work / "src" / ".shellcheckrc").write_text("external-sources=true\n")
    assert decision("shellcheck src/a.sh", work) == "ask"


def test_an_archive_is_not_unpacked_to_count_its_lines(work: Path) -> None:
    assert decision("cloc src", work) == "allow"
    assert decision("cloc .", work) == "allow"
    (work / "a'b.zip").write_bytes(b"PK")
    for command in ('cloc "a\'b.zip"', "cloc *", "cloc HEAD", "cloc src HEAD"):
        assert decision(command, work) == "ask"


def test_a_toolchain_of_the_workspace_runs_nothing_unasked(work: Path) -> None:
    assert decision("rustfmt --version", work) == "allow"
    (work / "rust-toolchain.toml").write_text('[toolchain]\npath = "/proc/self/cwd/evil"\n')
    for name in ("rustfmt", "cargo", "rustc", "cargo-fmt", "rustdoc"):
        assert decision(f"{name} --version", work) == "ask"


@pytest.mark.parametrize(
    ("version", "module", "expected"),
    [
        ("go1.22.3", "module x\n\ngo 1.22\n", "allow"),
        ("go1.22.3", "module x\ngo 1.21.9 // old\ntoolchain go1.22.3\n", "allow"),
        ("go1.22.3", "module x\ngo 1.23\n", "ask"),
        ("go1.22.3", "module x\ngo 1.22.4\n", "ask"),
        ("go1.22.3", "module x\ngo 1.22\ntoolchain\tgo1.99.1\n", "ask"),
        ("go1.22.3", "go 1.22\ntoolchain go1.22.1-evil\n", "ask"),
        ("go1.22.3", 'go 1.22\ntoolchain "go1.22.1"\n', "ask"),
        ("go1.22.3", "go 1.22\ntoolchain default\n", "allow"),
        ("go1.22.3", "module x\n", "allow"),
        ("go1.19.8", "module x\ngo 1.99\ntoolchain go1.99-evil\n", "allow"),
        ("go1.22rc1", "go 1.22\n", "ask"),
        ("devel +a1b2", "go 1.22\n", "ask"),
        ("", "go 1.22\n", "ask"),
        ("", "module x\n", "allow"),
    ],
)
def test_go_fetches_no_other_go_unasked(version: str, module: str, expected: str, work: Path) -> None:
    root = work.parent / "goroot"
    program(root / "bin" / "go")
    (root / "VERSION").write_text(f"{version}\ntime 2024-05-01T19:49:47Z\n")
    for command in ("go version", "go env GOPATH", "go list -mod=vendor ./..."):
        assert decision(command, work, (str(root / "bin"),)) == "allow"
        (work / "go.mod").write_text(module)
        assert decision(command, work, (str(root / "bin"),)) == expected
        assert decision(f"cd src && {command}", work, (str(root / "bin"),)) == expected
        (work / "go.mod").unlink()


def test_a_list_of_packages_starts_no_other_program(work: Path) -> None:
    tools = work.parent / "tools"
    program(tools / "pip")
    assert decision("pip freeze", work, (str(tools),)) == "allow"
    program(tools / "hg")
    assert decision("pip freeze", work, (str(tools),)) == "ask"
    assert decision("pip list --format=freeze", work, (str(tools),)) == "allow"


@pytest.mark.parametrize("shims", [".asdf/shims", ".local/share/mise/shims"])
def test_a_stand_in_asks_where_the_workspace_says_what_it_stands_for(shims: str, work: Path) -> None:
    folder = work.parent / shims
    program(folder / "node")
    search_path = (str(folder), "/usr/bin")
    (work.parent / ".tool-versions").write_text("nodejs 20.1.0\n")
    assert decision("node --version", work, search_path) == "allow"
    (work / ".tool-versions").write_text("nodejs path:/proc/self/cwd/evil\n")
    assert decision("cd src && node --version", work, search_path) == "ask"
    assert decision("ls", work, search_path) == "allow"
    os.unlink(folder / "node")
    assert decision("node --version", work, search_path) == "allow"
