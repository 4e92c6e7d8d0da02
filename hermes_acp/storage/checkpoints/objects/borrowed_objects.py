"""Objects of the user's repository that a shadow's first index names, until they are copied into the shadow.

Object files are linked, or copied if the home folder is on another file system, so neither the user's garbage
collection nor deleting the repository removes them. Only contents that a snapshot may hold are copied from there, in
batches. Then the links are removed. All methods block.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final

from hermes_acp.storage.checkpoints.atomic_write import write_atomically
from hermes_acp.storage.checkpoints.shadow_git import BORROWED, ShadowGit

NAMES: Final = "names"
OID_BYTES: Final = 20
BATCH: Final = 10_000
MAX_COPIED_BYTES: Final = 256 << 20
MAX_PACKS: Final = 4_000
PACKING: Final = ("--quiet", "--threads=1", "--window=0", "--delta-base-offset")


class BorrowedObjects:
    """The objects that a shadow borrows."""

    def __init__(self, git: ShadowGit) -> None:
        self._git = git
        self._folder = git.place / BORROWED
        self._copied_bytes = 0

    @property
    def exist(self) -> bool:
        """Whether there may be borrowed objects that are not copied yet."""
        return self._folder.is_dir()

    def borrow(self, objects: str, oids: set[bytes]) -> set[bytes]:
        """Borrow objects from a repository's objects folder and return those that exist there. Raises OSError."""
        if not oids or os.path.realpath(objects) != objects:
            return set()
        (self._folder / "pack").mkdir(mode=0o700, parents=True, exist_ok=True)
        source = Path(objects)
        for pack in sorted((source / "pack").glob("pack-*.pack"))[:MAX_PACKS]:
            index = pack.with_suffix(".idx")
            if self._link(pack, self._folder / "pack" / pack.name):
                self._link(index, self._folder / "pack" / index.name)
        names = {oid.hex(): oid for oid in oids}
        for name in self._missing(names, own_only=False):
            (self._folder / name[:2]).mkdir(mode=0o700, exist_ok=True)
            if not self._link(source / name[:2] / name[2:], self._folder / name[:2] / name[2:]):
                del names[name]
        write_atomically(self._folder / NAMES, b"".join({*self._named(), *names.values()}))
        return set(names.values())

    def _link(self, source: Path, target: Path) -> bool:
        """Link or copy a regular file and return whether that worked. Refuse anything else."""
        try:
            about = os.lstat(source)
            if not stat.S_ISREG(about.st_mode):
                return False
            with suppress(FileExistsError):
                os.link(source, target, follow_symlinks=False)
            return True
        except OSError:
            return self._copy(source, target)

    def _copy(self, source: Path, target: Path) -> bool:
        with suppress(OSError):
            size_bytes = os.lstat(source).st_size
            if self._copied_bytes + size_bytes <= MAX_COPIED_BYTES:
                self._copied_bytes += size_bytes
                shutil.copyfile(source, target, follow_symlinks=False)
                return True
        return False

    def _named(self) -> Iterator[bytes]:
        with suppress(OSError):
            content = (self._folder / NAMES).read_bytes()
            for first in range(0, len(content) - OID_BYTES + 1, OID_BYTES):
                yield content[first : first + OID_BYTES]

    def _missing(self, names: Iterable[str], *, own_only: bool) -> list[str]:
        given = "".join(f"{name}\n" for name in names).encode("ascii")
        listed = self._git.run(
            "cat-file", "--batch-check=%(objectname)", given=given, borrows=not own_only
        ).decode("ascii")
        return [line.partition(" ")[0] for line in listed.splitlines() if line.endswith(" missing")]

    def copy_all(self, held: Callable[[], AbstractContextManager[None]]) -> None:
        """Copy all objects that are still borrowed, then remove the links.

        Each batch locks the shadow. If this is stopped, the finished copies remain. Raises CheckpointError or OSError.
        """
        if not self.exist:
            return
        missing = self._missing([oid.hex() for oid in self._named()], own_only=True)
        for first in range(0, len(missing), BATCH):
            given = "".join(f"{name}\n" for name in missing[first : first + BATCH]).encode("ascii")
            with held():
                self._git.run(
                    "pack-objects", *PACKING, str(self._git.place / "objects/pack/pack"), given=given
                )
        with held():
            if not self._missing([oid.hex() for oid in self._named()], own_only=True):
                remove_borrowed(self._git.place)


def remove_borrowed(place: Path) -> None:
    """Remove everything that the shadow at a path borrows, copied or not."""
    with suppress(FileNotFoundError):
        os.rename(place / BORROWED, place / f"{BORROWED}.{os.urandom(8).hex()}")
    for left in place.glob(f"{BORROWED}.*"):
        shutil.rmtree(left, ignore_errors=True)
