"""The versions of a folder: stored, listed, restored."""

from pathlib import Path

import pytest

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.storage.version_history import (
    MANUAL_CHANGE_REASON,
    ChangeCause,
    Version,
    VersionHistory,
    histories,
    open_history,
    origin_of,
    read_tree,
    tree_digest,
)

AGENT = ChangeCause("agent", 10.0, "a lesson", "session_1")
USER = ChangeCause("user", 20.0, "asked for")


@pytest.fixture
def kept(tmp_path: Path) -> VersionHistory:
    return open_history(tmp_path / "home", "skills", tmp_path / "deploy")


def reported(version: Version) -> tuple[int, str, tuple[str, ...]]:
    return version.number, version.cause.who, tuple(file.path for file in version.files)


def test_a_change_is_stored_with_author_time_and_reason(kept: VersionHistory) -> None:
    kept.change({"a.md": b"one"}, AGENT)
    kept.change({"refs/b.md": b"two", "a.md": b"three"}, USER)
    assert [reported(each) for each in kept.versions()] == [
        (1, "agent", ("a.md",)),
        (2, "user", ("a.md", "refs/b.md")),
    ]
    assert kept.versions()[0].cause == AGENT
    assert kept.content(kept.versions()[0].files[0]) == b"one"


def test_a_manual_change_is_a_separate_version(kept: VersionHistory) -> None:
    kept.folder.mkdir()
    (kept.folder / "a.md").write_text("by hand")
    kept.change({"a.md": b"by the agent"}, AGENT)
    (kept.folder / "a.md").write_text("by hand again")
    kept.change({"b.md": b"more"}, AGENT)
    assert [each.cause.who for each in kept.versions()] == ["user", "agent", "user", "agent"]
    assert kept.versions()[2].cause.why == MANUAL_CHANGE_REASON


def test_restoring_is_a_new_version_and_removes_later_files(kept: VersionHistory) -> None:
    kept.change({"a.md": b"one", "bin/run.sh": b"#!"}, AGENT)
    (kept.folder / "bin/run.sh").chmod(0o755)
    kept.keep(USER)
    kept.change({"a.md": b"two", "bin/run.sh": None, "new/deep/c.md": b"c"}, AGENT)
    version = kept.restore(2, USER)
    assert (version.number, version.returns_to) == (4, 2)
    assert [file.path for file in read_tree(kept.folder)] == ["a.md", "bin/run.sh"]
    assert (kept.folder / "bin/run.sh").stat().st_mode & 0o100
    assert not (kept.folder / "new").exists()
    origin = origin_of(kept.versions())
    assert origin
    assert origin.number == 2


def test_a_folder_is_removed_and_restored(kept: VersionHistory) -> None:
    kept.change({"a.md": b"one"}, AGENT)
    gone = kept.restore(0, USER)
    assert gone.is_gone
    assert not kept.folder.exists()
    assert origin_of(kept.versions()) is None
    kept.restore(1, USER)
    assert (kept.folder / "a.md").read_bytes() == b"one"


def test_a_folder_replaced_in_the_meantime_stays_as_it_is(kept: VersionHistory) -> None:
    kept.change({"a.md": b"one"}, AGENT)
    seen = tree_digest(read_tree(kept.folder))
    (kept.folder / "a.md").write_text("meanwhile")
    with pytest.raises(BadRequest, match="in the meantime"):
        kept.change({"a.md": b"two"}, AGENT, expected=seen)
    with pytest.raises(BadRequest, match="in the meantime"):
        kept.restore(1, AGENT, expected=seen)
    assert (kept.folder / "a.md").read_text() == "meanwhile"


def test_without_changes_there_is_no_new_version(kept: VersionHistory) -> None:
    kept.change({"a.md": b"one"}, AGENT)
    kept.keep(USER)
    assert len(kept.versions()) == 1


@pytest.mark.parametrize("path", ["../a", "/etc/a", ".git/config", "a/../../b", "", "a\\b"])
def test_no_path_leads_out_of_the_folder(kept: VersionHistory, path: str) -> None:
    with pytest.raises(BadRequest):
        kept.change({path: b"x"}, AGENT)
    assert kept.versions() == ()


def test_a_folder_with_links_is_left_alone(kept: VersionHistory, tmp_path: Path) -> None:
    kept.folder.mkdir()
    (kept.folder / "a.md").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadRequest, match="not a regular file"):
        kept.change({"b.md": b"x"}, AGENT)
    assert not (kept.folder / "b.md").exists()


def test_a_damaged_copy_is_not_restored(kept: VersionHistory) -> None:
    version = kept.change({"a.md": b"one"}, AGENT)
    kept.change({"a.md": b"two"}, AGENT)
    blob = next(kept.folder.parent.glob(f"home/history/skills/*/files/{version.files[0].digest}"))
    blob.write_bytes(b"evil")
    with pytest.raises(StorageError):
        kept.restore(1, USER)
    assert (kept.folder / "a.md").read_bytes() == b"two"


def test_all_stored_folders_are_found_again(kept: VersionHistory, tmp_path: Path) -> None:
    kept.change({"a.md": b"one"}, AGENT)
    (found,) = histories(tmp_path / "home", "skills")
    assert found.folder == kept.folder
    assert histories(tmp_path / "home", "tools") == ()
