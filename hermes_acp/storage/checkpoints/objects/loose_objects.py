"""Write git's loose objects without starting git, which would take longer than all other steps of storing a file.

Objects are written atomically, and contents are on disk before they are replaced in the workspace. An object that
exists is marked as just used, so that garbage collection keeps it.
Source: git-hash-object(1), git-prune(1), "Git Internals - Git Objects" in the Pro Git book.
"""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from hermes_acp.storage.checkpoints.git_trees import READ_BYTES, FileState
from hermes_acp.storage.disk_sync import sync_content

FOLDER_MODE: Final = "40000"
DRAFT: Final = "tmp_obj_"
"""The prefix by which `git prune` finds the leftovers of a killed process."""
COMPRESSION: Final = 1


class LooseObjects:
    """The object folder of a repository. Methods block and raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store_file(self, descriptor: int) -> str:
        """Store the content of an open file, byte for byte, and return its object's name.

        Return an empty string if the file's size changes meanwhile.
        """
        size_bytes = os.fstat(descriptor).st_size
        return self._store("blob", size_bytes, _pieces_of(descriptor))

    def store(self, kind: Literal["blob", "tree"], content: bytes) -> str:
        """Store an object and return its name."""
        return self._store(kind, len(content), (content,))

    def store_tree(self, files: Mapping[bytes, FileState]) -> str:
        """Store a tree with the given files by path, including the trees of their folders; return its name."""
        folders: dict[bytes, dict[bytes, FileState]] = {b"": {}}
        for path, state in files.items():
            folder, _, name = path.rpartition(b"/")
            folders.setdefault(folder, {})[name] = state
            while folder:
                folder = folder.rpartition(b"/")[0]
                folders.setdefault(folder, {})
        for folder in sorted(folders, key=_depth, reverse=True):
            oid = self.store("tree", _tree_content(folders[folder]))
            if not folder:
                return oid
            above, _, name = folder.rpartition(b"/")
            folders[above][name] = FileState(FOLDER_MODE, oid)
        raise AssertionError("the top folder ends the loop")

    def _store(self, kind: str, size_bytes: int, pieces: Iterable[bytes]) -> str:
        digest = hashlib.sha1(usedforsecurity=False)
        packer = zlib.compressobj(COMPRESSION)
        draft = self._folder / f"{DRAFT}{os.urandom(8).hex()}"
        seen_bytes = 0
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "wb") as file:
                header = f"{kind} {size_bytes}\0".encode("ascii")
                digest.update(header)
                file.write(packer.compress(header))
                for piece in pieces:
                    seen_bytes += len(piece)
                    digest.update(piece)
                    file.write(packer.compress(piece))
                if seen_bytes != size_bytes:
                    return ""
                path = self._folder / digest.hexdigest()[:2] / digest.hexdigest()[2:]
                if _is_kept(path):
                    return digest.hexdigest()
                file.write(packer.flush())
                file.flush()
                if kind == "blob":  # a tree's content can be rebuilt from the checkpoint's record
                    sync_content(file.fileno())
            path.parent.mkdir(mode=0o700, exist_ok=True)
            os.replace(draft, path)
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()
        return digest.hexdigest()


def _pieces_of(descriptor: int) -> Iterator[bytes]:
    while piece := os.read(descriptor, READ_BYTES):
        yield piece


def _is_kept(path: Path) -> bool:
    """Mark an object as just used, and return whether it exists.

    An empty file, left by a power failure, does not count.
    """
    try:
        os.utime(path)
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _depth(folder: bytes) -> int:
    return folder.count(b"/") + 1 if folder else 0


def _tree_content(entries: Mapping[bytes, FileState]) -> bytes:
    """Return a tree's content. Git sorts folder names as if they ended in a slash."""
    ordered = sorted(
        entries.items(), key=lambda each: each[0] + (b"/" if each[1].mode == FOLDER_MODE else b"")
    )
    return b"".join(
        state.mode.encode("ascii") + b" " + name + b"\0" + bytes.fromhex(state.oid) for name, state in ordered
    )
