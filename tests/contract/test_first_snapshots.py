"""The first snapshot of a repository starts from its own index and stays complete whatever happens to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Event

import pytest

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.storage.checkpoints.checkpoint_store import StoreSetup
from hermes_acp.storage.checkpoints.garbage_collection import RetentionPolicy, collect_garbage
from hermes_acp.storage.checkpoints.objects.borrowed_objects import BorrowedObjects
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits
from tests.contract.test_checkpoints import Workshop, git, tree_of

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]
FILES = 40
ELSEWHERE = Path("/dev/shm")


def settle(root: Path) -> None:
    """Set the times of all files before that of the index, as if nobody had changed anything recently."""
    for path in root.rglob("*"):
        if ".git" not in path.parts and path.is_file() and not path.is_symlink():
            os.utime(path, (1_600_000_000, 1_600_000_000))


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    workshop = Workshop(tmp_path.resolve())
    for number in range(FILES):
        workshop.write(f"src/part{number % 4}/file{number}.py", f"print({number})\n" * 9)
    settle(workshop.root)
    git(workshop.root, "init", "-q")
    git(workshop.root, "add", "-A")
    git(workshop.root, "commit", "-qm", "all")
    return workshop


def files_in(workshop: Workshop, checkpoint_id: str) -> dict[str, bytes]:
    """Return the files in the tree before a checkpoint, with their contents."""
    note, _ = workshop.store.find("ses_1", checkpoint_id)
    shadow = workshop.store.shadow(note.places[0].root)
    listed = shadow.entries(note.places[0].before, b".")
    contents = shadow.git.blobs([state.oid for state in listed.values()])
    return {os.fsdecode(path): content or b"missing" for path, content in zip(listed, contents, strict=True)}


def on_disk(root: Path) -> dict[str, bytes]:
    paths = (path for path in root.rglob("*") if ".git" not in path.relative_to(root).parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in paths if path.is_file()}


def borrowed(workshop: Workshop) -> BorrowedObjects:
    return BorrowedObjects(workshop.store.shadow(str(workshop.root)).git)


def own_objects(workshop: Workshop) -> int:
    shadow = workshop.store.shadow(str(workshop.root))
    command = ("git", "--git-dir", str(shadow.place), "cat-file", "--batch-all-objects", "--batch-check")
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return sum(" blob " in line for line in listed.splitlines())


def change(workshop: Workshop) -> None:
    workshop.write("src/part0/file0.py", "changed\n")
    (workshop.root / "src/part1/file1.py").unlink()
    workshop.write("new.py", "new\n")


def test_objects_that_the_repository_has_are_not_stored_again(workshop: Workshop) -> None:
    before, tree = on_disk(workshop.root), tree_of(workshop.root)
    checkpoint = workshop.turn(lambda: change(workshop))
    assert files_in(workshop, checkpoint) == before
    assert own_objects(workshop) == 2
    assert not workshop.undo().conflicts
    after = tree_of(workshop.root)
    assert {path: about for path, about in after.items() if b"/.git/" not in path} == {
        path: about for path, about in tree.items() if b"/.git/" not in path
    }


def test_borrowed_objects_are_copied_and_released(workshop: Workshop) -> None:
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: change(workshop))
    assert borrowed(workshop).exist
    workshop.store.copy_borrowed(workshop.roots)
    assert not borrowed(workshop).exist
    assert own_objects(workshop) == FILES + 2
    assert files_in(workshop, checkpoint) == before


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("copied", [False, True])
def test_undo_no_longer_needs_the_repository(workshop: Workshop, *, packed: bool, copied: bool) -> None:
    if packed:
        git(workshop.root, "gc", "-q")
    before = on_disk(workshop.root)

    def act() -> None:
        shutil.rmtree(workshop.root / ".git")
        shutil.rmtree(workshop.root / "src")

    workshop.turn(act)
    if copied:
        workshop.store.copy_borrowed(workshop.roots)
    workshop.undo()
    assert on_disk(workshop.root) == before


def test_the_users_garbage_collection_removes_nothing_needed(workshop: Workshop) -> None:
    workshop.write("src/part0/file0.py", "only ever staged\n")
    settle(workshop.root)
    git(workshop.root, "add", "-A")
    git(workshop.root, "gc", "-q")

    def act() -> None:
        change(workshop)
        git(workshop.root, "add", "-A")
        git(workshop.root, "gc", "-q", "--prune=now")

    workshop.turn(act)
    workshop.store.copy_borrowed(workshop.roots)
    workshop.undo()
    assert (workshop.root / "src/part0/file0.py").read_text() == "only ever staged\n"


def test_garbage_collection_of_checkpoints_loses_nothing_while_objects_are_borrowed(
    workshop: Workshop,
) -> None:
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: change(workshop))
    (workshop.home / "sessions").mkdir()
    (workshop.home / "sessions" / "ses_1.jsonl").touch()
    for terms in (RetentionPolicy(9, 9, 1 << 30), RetentionPolicy(9, 9, 20_000)):
        collect_garbage(workshop.store, terms, 1_100.0)
    workshop.store.copy_borrowed(workshop.roots)
    collect_garbage(workshop.store, RetentionPolicy(9, 9, 1 << 30), 1_100.0)
    if workshop.store.checkpoint_index.all():
        assert files_in(workshop, checkpoint) == before


def test_files_that_a_filter_converts_are_stored_unconverted(workshop: Workshop) -> None:
    git(workshop.root, "config", "filter.up.clean", "tr a-z A-Z")
    workshop.write(".gitattributes", "*.txt filter=up\n*.crlf text eol=crlf\n")
    workshop.write("name.txt", "small\n")
    workshop.write("lines.crlf", "one\r\ntwo\r\n")
    settle(workshop.root)
    git(workshop.root, "add", "-A")
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: workshop.write("name.txt", "other\n"))
    assert files_in(workshop, checkpoint) == before
    workshop.undo()
    assert on_disk(workshop.root) == before


def test_an_incorrect_index_is_not_trusted(workshop: Workshop) -> None:
    """The index entry of a file equals that of another: same size, same time."""
    one, other = workshop.root / "src/part0/file0.py", workshop.root / "src/part0/file4.py"
    oid = git(workshop.root, "rev-parse", ":src/part0/file4.py")
    about = one.stat()
    index = workshop.root / ".git/index"
    own = git(workshop.root, "rev-parse", ":src/part0/file0.py")
    content = index.read_bytes().replace(bytes.fromhex(own), bytes.fromhex(oid))
    index.write_bytes(content)
    assert about.st_size == other.stat().st_size
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: workshop.write("new.py"))
    assert files_in(workshop, checkpoint) == before


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_flags_in_the_index_hide_no_change(workshop: Workshop, flag: str) -> None:
    git(workshop.root, "update-index", flag, "src/part0/file0.py")
    workshop.write("src/part0/file0.py", "changed before\n")
    checkpoint = workshop.turn(lambda: workshop.write("src/part0/file0.py", "changed after\n"))
    assert files_in(workshop, checkpoint)["src/part0/file0.py"] == b"changed before\n"
    workshop.undo()
    assert (workshop.root / "src/part0/file0.py").read_text() == "changed before\n"


@pytest.mark.parametrize("version", [2, 3, 4])
def test_every_format_of_an_index_is_read(workshop: Workshop, version: int) -> None:
    git(workshop.root, "update-index", "--index-version", str(version))
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: workshop.write("new.py"))
    assert files_in(workshop, checkpoint) == before
    assert own_objects(workshop) == 1


def test_a_split_index_and_a_conflict_are_stored_completely(workshop: Workshop) -> None:
    git(workshop.root, "update-index", "--split-index")
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: workshop.write("new.py"))
    assert files_in(workshop, checkpoint) == before
    assert own_objects(workshop) == FILES + 1


def test_a_linked_work_tree_borrows_too(workshop: Workshop, tmp_path: Path) -> None:
    git(workshop.root, "worktree", "add", "-q", str(workshop.root.parent / "second"))
    workshop.root = workshop.root.parent / "second"
    workshop.roots = (str(workshop.root),)
    settle(workshop.root)
    git(workshop.root, "update-index", "--refresh")
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: workshop.write("new.py"))
    assert files_in(workshop, checkpoint) == before
    assert own_objects(workshop) == 1


def test_a_folder_inside_the_repository_borrows_only_its_own_files(workshop: Workshop) -> None:
    workshop.root /= "src"
    workshop.roots = (str(workshop.root),)
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: workshop.write("part0/file0.py", "changed\n"))
    assert files_in(workshop, checkpoint) == before
    workshop.undo()
    assert on_disk(workshop.root) == before


def test_a_home_on_another_file_system_copies_the_objects(workshop: Workshop) -> None:
    if not ELSEWHERE.is_dir() or ELSEWHERE.stat().st_dev == workshop.root.stat().st_dev:
        pytest.skip("there is one file system only")
    with tempfile.TemporaryDirectory(dir=ELSEWHERE) as home:
        setup = workshop.store.setup
        workshop.store.setup = StoreSetup(Path(home), setup.variables, setup.bounds)
        before = on_disk(workshop.root)
        checkpoint = workshop.turn(lambda: change(workshop))
        shutil.rmtree(workshop.root / ".git")
        assert files_in(workshop, checkpoint) == before
        assert own_objects(workshop) == 2


def test_links_among_the_objects_are_not_followed(workshop: Workshop, tmp_path: Path) -> None:
    git(workshop.root, "gc", "-q")
    secret = tmp_path / "elsewhere.pack"
    (pack,) = (workshop.root / ".git/objects/pack").glob("*.pack")
    pack.rename(secret)
    pack.symlink_to(secret)
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: change(workshop))
    assert files_in(workshop, checkpoint) == before
    assert own_objects(workshop) == FILES + 2


def test_an_interrupted_check_continues_where_it_stopped(workshop: Workshop) -> None:
    store = workshop.store
    looked: list[str] = []

    def stop_at(path: str) -> bool:
        looked.append(path)
        if len(looked) == FILES // 2:
            store.stop.set()
        return False

    for number in range(600):
        workshop.write(f"many/file{number}.py", f"{number}\n")
    settle(workshop.root)
    git(workshop.root, "add", "-A")
    store.setup = StoreSetup(
        store.setup.home, store.setup.variables, SnapshotLimits(1 << 20, holds_keys=stop_at)
    )
    with pytest.raises(CheckpointError, match="cancelled"):
        store.prepare(workshop.roots)
    shadow = store.shadow(str(workshop.root))
    assert (shadow.place / "index.seed").stat().st_size > 256 * 62
    assert not (shadow.place / "index").exists()
    store.stop.clear()
    before = on_disk(workshop.root)
    checkpoint = workshop.turn(lambda: workshop.write("new.py"))
    assert files_in(workshop, checkpoint) == before
    assert not (shadow.place / "index.seed").exists()


def test_an_interrupted_copy_is_finished_later(workshop: Workshop) -> None:
    workshop.turn(lambda: change(workshop))
    workshop.store.stop = Event()
    workshop.store.stop.set()
    with pytest.raises(CheckpointError):
        workshop.store.copy_borrowed(workshop.roots)
    assert borrowed(workshop).exist
    workshop.store.stop.clear()
    workshop.store.copy_borrowed(workshop.roots)
    assert not borrowed(workshop).exist


def test_a_half_written_pack_is_removed(workshop: Workshop) -> None:
    workshop.turn(lambda: workshop.write("new.py"))
    packs = workshop.store.shadow(str(workshop.root)).place / "objects/pack"
    (packs / "tmp_pack_abcdef").write_bytes(b"half")
    (packs / ".tmp-123-pack-aa.pack").write_bytes(b"half")
    workshop.turn(lambda: workshop.write("new.py", "y"))
    assert not [path for path in packs.iterdir() if "tmp" in path.name]


def test_a_repository_with_too_many_files_is_rejected_before_any_is_read(workshop: Workshop) -> None:
    setup = workshop.store.setup
    workshop.store.setup = StoreSetup(
        setup.home, setup.variables, SnapshotLimits(1 << 20, max_files=FILES - 1)
    )
    with pytest.raises(CheckpointError, match="more than 39 files"):
        workshop.store.prepare(workshop.roots)
