"""Find the index and the objects of the repository to which a work tree belongs, without running git."""

import os

from msgspec import Struct

from hermes_acp.git.small_files import read_small_text


class RepositoryFolders(Struct, frozen=True):
    """The index file of a work tree, and the folder that contains its repository's objects."""

    index: str
    objects: str


def find_repository_folders(top: str) -> RepositoryFolders | None:
    """Return the folders for the top of a work tree; None outside repositories and in submodules.

    A linked work tree counts only if its repository also lists it.
    """
    git_dir = os.path.join(top, ".git")
    if os.path.islink(git_dir):
        return None
    if os.path.isdir(git_dir):
        return RepositoryFolders(os.path.join(git_dir, "index"), os.path.join(git_dir, "objects"))
    pointer = read_small_text(git_dir) or ""
    if not pointer.startswith("gitdir:"):
        return None
    own = os.path.realpath(os.path.join(top, pointer.removeprefix("gitdir:").strip()))
    back = (read_small_text(os.path.join(own, "gitdir")) or "").strip()
    common = (read_small_text(os.path.join(own, "commondir")) or "").strip()
    if not common or os.path.realpath(os.path.join(own, back)) != os.path.realpath(git_dir):
        return None
    shared = os.path.realpath(os.path.join(own, common))
    return RepositoryFolders(os.path.join(own, "index"), os.path.join(shared, "objects"))
