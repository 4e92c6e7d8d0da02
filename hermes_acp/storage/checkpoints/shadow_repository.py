"""A workspace folder's shadow: a git repository in the home folder that holds its snapshots.

The index stores the `lstat` result of every file, so a snapshot of an unchanged folder costs one walk and no reading
(racy-git, index-format in git's documentation). Only one process at a time may use the index. The lock belongs to a
descriptor, so a killed process leaves none behind, and the next process repeats the unfinished work.
"""

import fcntl
import hashlib
import os
import stat
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.git.safe_git import GitProgram
from hermes_acp.git.work_tree import find_work_tree
from hermes_acp.storage.checkpoints.atomic_write import checkpoint_io_error, write_atomically
from hermes_acp.storage.checkpoints.gc_refs import GcRefs
from hermes_acp.storage.checkpoints.git_trees import (
    USUAL_FOLDER,
    FileState,
    TreeDifference,
    read_differences,
    read_entries,
)
from hermes_acp.storage.checkpoints.ignored_files import ignored, ignored_within
from hermes_acp.storage.checkpoints.objects.index_seed import fill_index
from hermes_acp.storage.checkpoints.objects.unfinished_packs import remove_unfinished_packs
from hermes_acp.storage.checkpoints.repository_scan import WorkspaceWalk
from hermes_acp.storage.checkpoints.shadow_git import GitCommandError, ShadowGit
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits, filter_paths
from hermes_acp.storage.checkpoints.tree_edits import tree_with_states
from hermes_acp.storage.private_files import private_folder

USUAL_MODES: Final = (0o644, 0o755)
MAX_ATTEMPTS: Final = 3
PACK_THRESHOLD: Final = 256
MAX_FILES_PER_PACK: Final = 4_000
LOCK_S: Final = 120.0
POLL_INTERVAL_S: Final = 0.02
RENAMES: Final = "-l400"
MISSING_INDEX: Final = "index.none"
"""The digest that stands for a missing index."""
KEYS_REMOVED_MARK: Final = "without-keys-1"
RAW: Final = (
    "-r",
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
)


class Snapshot(Struct, frozen=True):
    """A folder at a point in time: its tree in the shadow, its empty folders, and the files that were left out."""

    tree: str
    empty_folders: tuple[bytes, ...] = ()
    left_out: tuple[bytes, ...] = ()


def _with_left(snapshot: Snapshot, folders: Sequence[bytes]) -> Snapshot:
    if not folders:
        return snapshot
    return structs.replace(snapshot, left_out=tuple(sorted({*snapshot.left_out, *folders})))


def shadow_name(root: str, base: str) -> str:
    """Return the name of a folder's shadow; `base` is the repository that contains the folder, or the folder itself."""
    return hashlib.sha256(f"{root}\0{base}".encode("utf-8", "surrogateescape")).hexdigest()[:24]


def base_of(root: str) -> str:
    """Return the top folder of the repository that contains a folder, whose ignore files apply.

    Without a repository, return the folder itself.
    """
    return find_work_tree(root) or root


class ShadowCache:
    """Cached answers from git.

    They are the ignored but tracked files, for the user's index identified by `mark`, and the folders of trees, which
    never change.
    """

    def __init__(self) -> None:
        self.mark: object = None
        self.paths: tuple[bytes, ...] = ()
        self.folders: tuple[str, tuple[bytes, ...]] = ("", ())


class Shadow:
    """The shadow of a folder. All methods block and raise CheckpointError."""

    def __init__(
        self, shadows_folder: Path, root: str, program: GitProgram, bounds: SnapshotLimits, own_home: str
    ) -> None:
        """Initialise, reading the disk only to resolve paths. `own_home` is never part of a snapshot."""
        base = base_of(root)
        self.root = root
        self.name = shadow_name(root, base)
        self.place = shadows_folder / self.name
        self.git = ShadowGit(program, self.place, root, base)
        self._base = base
        self.bounds = bounds
        self.own_home = own_home
        self.memory = ShadowCache()

    @property
    def gc_refs(self) -> GcRefs:
        """The references that protect the shadow's trees."""
        return GcRefs(self.place)

    def use_name(self, name: str) -> None:
        """Switch to an earlier name of this folder's shadow, to read what was stored under that name."""
        self.name = name
        self.place = self.place.parent / name
        self.git.place = self.place

    def make(self) -> None:
        """Create the repository if it is missing. Needs no lock."""
        try:
            private_folder(self.place)
            self.git.make(tuple(self._excludes()))
        except OSError as error:
            raise checkpoint_io_error(self.place, error) from error

    @contextmanager
    def held(self) -> Generator[None]:
        """Lock the index against other processes, and create the repository if it is missing."""
        try:
            private_folder(self.place)
            descriptor = os.open(self.place / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise checkpoint_io_error(self.place, error) from error
        try:
            self._wait_for(descriptor)
            self.git.lock = (descriptor,)
            self.make()
            try:  # the process that created it is dead, because this one holds the lock
                (self.place / "index.lock").unlink(missing_ok=True)
                remove_unfinished_packs(self.place)
            except OSError as error:
                raise checkpoint_io_error(self.place, error) from error
            yield
        finally:
            self.git.lock = ()
            os.close(descriptor)

    def _wait_for(self, descriptor: int) -> None:
        waited_s = 0.0
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if self.git.stop.wait(POLL_INTERVAL_S) or (waited_s := waited_s + POLL_INTERVAL_S) > LOCK_S:
                    raise CheckpointError(
                        f"Timed out waiting for another process that is taking a checkpoint of {self.root}."
                    ) from None

    def _excludes(self) -> Iterator[str]:
        from hermes_acp.storage.checkpoints.repository_scan import USUALLY_IGNORED

        yield from USUALLY_IGNORED
        inner = os.path.relpath(self.own_home, self._base)
        if not inner.startswith("..") and "\n" not in inner:
            yield "/" + "".join(f"\\{c}" if c in "\\*?[] #!" else c for c in inner) + "/"

    def take(self, touched: Iterable[bytes] = ()) -> Snapshot:
        """Take a snapshot that includes the files `touched` (relative paths), even if they are ignored."""
        paths = tuple(touched)
        wanted = tuple(path for path in paths if self._is_file(path))
        with self.held():
            inside, left = ignored_within(self.git, self.root, paths)
            wanted = (*wanted, *inside)
            for attempt in range(1, MAX_ATTEMPTS + 1):
                try:
                    return _with_left(self._take(wanted), left)
                except GitCommandError:
                    if attempt == MAX_ATTEMPTS:
                        raise
                    # A file changed while git read it, or the index is damaged and is rebuilt.
                    if attempt > 1:
                        (self.place / "index").unlink(missing_ok=True)
        raise AssertionError("the last try ends the loop")

    def _is_file(self, path: bytes) -> bool:
        """Return whether a file or link exists at a path."""
        try:
            mode = os.lstat(os.fsencode(self.root) + b"/" + path).st_mode
        except OSError:
            return False
        return stat.S_ISREG(mode) or stat.S_ISLNK(mode)

    def _take(self, touched: Sequence[bytes]) -> Snapshot:
        self._forget_keys()
        walk = WorkspaceWalk(self.git, self.root, self.own_home, self.bounds.max_files)
        if not (self.place / "index").exists():
            self._note_modes(fill_index(self.git, self._base, walk, self.bounds))
        found = walk.look((*touched, *self._tracked_though_ignored()))
        filtered = filter_paths(self.root, found.changed, found.fresh, self.bounds)
        if filtered.forget:
            self._update(filtered.forget, "--force-remove")
        if filtered.became_folders:  # git does not report the contents of a folder that it tracks as a file
            found = walk.look((*touched, *self._tracked_though_ignored()))
            filtered = filter_paths(self.root, found.changed, found.fresh, self.bounds)
        if filtered.update:
            self._update(filtered.update, "--add", "--remove", "--replace")
            self._note_modes(filtered.modes)
        if found.was_expanded:
            found.folders = walk.compare().folders
        empty = tuple(walk.empty_folders_in(found.folders))
        return Snapshot(self._write_tree(), empty, tuple(sorted(filtered.left_out | set(walk.left_out))))

    def _forget_keys(self) -> None:
        """Remove files from the index, once, that an earlier version stored although their names mark them as
        secret.
        """
        mark = self.place / KEYS_REMOVED_MARK
        if mark.exists():
            return
        paths = [path for path in self.git.run("ls-files", "-z").split(b"\0") if path]
        if kept := [path for path in paths if self.bounds.holds_keys(os.fsdecode(path))]:
            self._update(kept, "--force-remove")
        try:
            write_atomically(mark, b"")
        except OSError as error:
            raise checkpoint_io_error(self.place, error) from error

    def _update(self, paths: Sequence[bytes], *manner: str) -> None:
        # Many files go into one pack, because a separate object file for each would cost ten times as much. For each
        # file, git searches the whole pack that it is writing, so the number of files per pack is limited.
        bulk = ("-c", "core.bigFileThreshold=1") if len(paths) > PACK_THRESHOLD else ()
        for first in range(0, len(paths), MAX_FILES_PER_PACK):
            given = b"".join(path + b"\0" for path in paths[first : first + MAX_FILES_PER_PACK])
            self.git.run(*bulk, "update-index", "-z", *manner, "--stdin", given=given)

    def _tracked_though_ignored(self) -> tuple[bytes, ...]:
        """Return the files that the user's repository tracks although they are ignored. Its index is only read."""
        index = os.path.join(self._base, ".git", "index")
        try:
            is_plain = stat.S_ISDIR(os.lstat(os.path.dirname(index)).st_mode)
            about = os.lstat(index)
        except OSError:
            return ()
        if not is_plain or not stat.S_ISREG(about.st_mode):
            return ()
        mark = (about.st_mtime_ns, about.st_size, about.st_ino)
        if mark != self.memory.mark:
            with suppress(GitCommandError):  # an index in another format than ours
                listed = self.git.run("ls-files", "-z", "-c", "-i", "--exclude-standard", index=index)
                self.memory.paths = tuple(path for path in listed.split(b"\0") if path)
            self.memory.mark = mark
        return self.memory.paths

    def _write_tree(self) -> str:
        inner = os.path.relpath(self.root, self._base)
        prefix = () if inner == "." else (f"--prefix={inner}/",)
        try:
            return self.git.run("write-tree", *prefix).decode("ascii").strip()
        except GitCommandError as error:
            if prefix and error.message.rstrip(".").endswith(
                "not found"
            ):  # the tree contains nothing from the folder
                return self.git.run("mktree", given=b"").decode("ascii").strip()
            raise

    def amend(self, tree: str, touched: Iterable[bytes]) -> str:
        """Return the tree with those of the missing files added that were left out only because they are ignored."""
        with self.held():
            paths = tuple(touched)
            inside, _ = ignored_within(self.git, self.root, paths)
            missing = [path for path in (*paths, *inside) if not self.entries(tree, path)]
            late = [path for path in missing if self._is_file(path) and ignored(self.git, path)]
            present = [path for path in late if os.path.lexists(os.fsencode(self.root) + b"/" + path)]
            found = filter_paths(self.root, (), present, self.bounds)
            if not found.update:
                return tree
            self._update(found.update, "--add", "--remove", "--replace")
            self._note_modes(found.modes)
            staged = self.git.run("ls-files", "-z", "-s", "--", *map(os.fsdecode, found.update))
            return tree_with_states(self.git, tree, dict(_staged(staged)))

    def entries(self, tree: str, path: bytes) -> dict[bytes, FileState]:
        """Return a tree's entries at a path, including everything below a folder."""
        return dict(
            read_entries(self.git.run("ls-tree", "-r", "-z", "--full-tree", tree, "--", os.fsdecode(path)))
        )

    def differences(self, before: str, after: str) -> list[TreeDifference]:
        """Return all paths in which two trees differ. A renamed file counts as one deleted and one added file."""
        if before == after:
            return []
        return list(read_differences(_compared(self.git, "--no-renames", before, after)))

    def changes(self, before: str, after: str) -> list[TreeDifference]:
        """Return all paths in which two trees differ, with renames detected."""
        if before == after:
            return []
        return list(read_differences(_compared(self.git, "-M", RENAMES, before, after)))

    def folder_modes(self, tree: str) -> dict[bytes, int]:
        """Return the unusual permission bits of a tree's folders."""
        modes: dict[bytes, int] = {}
        for folder in self._folders_of(tree):
            with suppress(OSError):
                about = os.lstat(os.fsencode(self.root) + b"/" + folder)
                mode = stat.S_IMODE(about.st_mode)
                if stat.S_ISDIR(about.st_mode) and mode != USUAL_FOLDER:
                    modes[folder] = mode
        return modes

    def _folders_of(self, tree: str) -> tuple[bytes, ...]:
        known, folders = self.memory.folders
        if tree != known:
            listed = self.git.run("ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", tree)
            folders = tuple(path for path in listed.split(b"\0") if path)
            self.memory.folders = tree, folders
        return folders

    def modes(self) -> dict[bytes, int]:
        """Return the unusual permission bits that files had when they were last stored."""
        try:
            return msgspec.msgpack.decode((self.place / "modes").read_bytes(), type=dict[bytes, int])
        except (OSError, msgspec.MsgspecError):
            return {}

    def _note_modes(self, seen: Mapping[bytes, int]) -> None:
        modes = self.modes()
        unusual = {path: mode for path, mode in seen.items() if mode not in USUAL_MODES}
        merged = {path: mode for path, mode in modes.items() if path not in seen} | unusual
        if merged == modes:
            return
        try:
            write_atomically(self.place / "modes", msgspec.msgpack.encode(merged))
        except OSError as error:
            raise checkpoint_io_error(self.place, error) from error


def _compared(git: ShadowGit, *arguments: str) -> bytes:
    # Use no index, because git would read it needlessly.
    return git.run("diff-tree", *RAW, *arguments, index=str(git.place / MISSING_INDEX))


def _staged(output: bytes) -> Iterator[tuple[bytes, FileState]]:
    for line in output.split(b"\0"):
        about, _, path = line.partition(b"\t")
        if path:
            mode, oid, _ = about.decode("ascii").split(" ")
            yield path, FileState(mode, oid)
