"""The folders in which skills are stored: the agent's, the user's and the workspace's."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.git.work_tree import find_root

Scope = Literal["builtin", "user", "workspace"]
WORKSPACE_FOLDERS: Final = (".hermes/skills", ".agents/skills", ".claude/skills")
USER_FOLDERS: Final = (".agents/skills", ".claude/skills")
PACKAGES: Final = ("packages", "apps", "services", "libs", "crates", "modules", "projects")
LEADING: Final = frozenset((*PACKAGES, *(part for name in WORKSPACE_FOLDERS for part in name.split("/"))))
MAX_PACKAGES: Final = 200
BUILTIN: Final = Path(__file__).parent / "bundled"


class SkillFolder(Struct, frozen=True):
    """A folder of skills.

    `root` is the folder that its links may not leave; `label` describes its location for people.
    """

    path: Path
    scope: Scope
    root: Path
    label: str


def find_skill_folders(cwd: str, home: Path, user_home: Path) -> tuple[SkillFolder, ...]:
    """Return the existing folders, nearest first; if two skills share a name, the nearer one wins.

    They are the folders from the working directory up to the repository's root, then those of the repository's
    packages, then the user's own (`home` is the agent's folder, `user_home` the user's home directory), then the
    built-in ones.
    """
    here = Path(os.path.realpath(cwd))
    root = find_root(here)
    found: dict[Path, SkillFolder] = {}
    for skill_folder in (*_workspace(here, root), *_user(home, user_home), _builtin()):
        if skill_folder.path.is_dir():
            found.setdefault(Path(os.path.realpath(skill_folder.path)), skill_folder)
    return tuple(found.values())


def parents(cwd: str, home: Path, user_home: Path) -> frozenset[Path]:
    """Return the existing folders where a skills folder may be created, and those that contain packages."""
    here = Path(os.path.realpath(cwd))
    root = find_root(here)
    holders = [*_holders(here, root), user_home]
    found = {home, *holders, *(root / name for name in PACKAGES)}
    found.update(holder / name.split("/")[0] for holder in holders for name in WORKSPACE_FOLDERS)
    return frozenset(folder for folder in found if folder.is_dir())


def may_hold_skills(path: Path) -> bool:
    """Return whether a folder with this name may contain skills.

    Home folders and projects contain many other files that change.
    """
    return path.name in LEADING or path.parent.name in PACKAGES


def _holders(here: Path, root: Path) -> list[Path]:
    """Return the folders of a workspace that may contain skills, nearest first."""
    above = [folder for folder in (here, *here.parents) if folder.is_relative_to(root)]
    return [*above, *_packages(root)]


def _workspace(here: Path, root: Path) -> Iterator[SkillFolder]:
    for folder in _holders(here, root):
        for name in WORKSPACE_FOLDERS:
            place = folder / name
            yield SkillFolder(place, "workspace", root, place.relative_to(root).as_posix())


def _packages(root: Path) -> Iterator[Path]:
    """Yield the packages of a repository that contains several."""
    count = 0
    for parent in PACKAGES:
        try:
            with os.scandir(root / parent) as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            continue
        for name in names:
            count += 1
            if count > MAX_PACKAGES:
                return
            yield root / parent / name


def _user(home: Path, user_home: Path) -> Iterator[SkillFolder]:
    places = (home / "skills", *(user_home / name for name in USER_FOLDERS))
    for place in places:
        yield SkillFolder(place, "user", Path(os.path.realpath(place)), str(place))


def _builtin() -> SkillFolder:
    return SkillFolder(BUILTIN, "builtin", BUILTIN, "built in")
