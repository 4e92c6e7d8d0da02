"""Decide whether a new repository, or a new entry in one, could start programs.

Checks block. Source: gitrepository-layout(5).
"""

import os
import stat
from collections.abc import Collection
from typing import Final

from hermes_acp.git.git_entries import POINTERS, directories, entries, unexpected_entries
from hermes_acp.git.program_settings import unsafe_setting
from hermes_acp.git.small_files import read_small_text

MAX_MODULES: Final = 100


def head_path(repository: str) -> str:
    """Return the path of HEAD, without which git does not recognise a repository."""
    is_folder = os.path.isdir(repository) and not os.path.islink(repository)
    return f"{repository}/HEAD" if is_folder else repository


def is_usable(repository: str) -> bool:
    """Return whether git would recognise the repository as it is."""
    return os.path.lexists(head_path(repository))


def hazard_of_repository(repository: str, known: Collection[str]) -> str:
    """Describe what could start programs in a new repository; empty if nothing can. `known` repositories are unchanged.

    Anything not clearly harmless counts as dangerous, because nobody has reviewed it.
    """
    try:
        about = os.lstat(repository)
    except OSError:
        return ""
    if stat.S_ISLNK(about.st_mode):
        return "it is a link"
    if not stat.S_ISDIR(about.st_mode):
        return _hazard_of_pointer(repository, known)
    if os.path.lexists(f"{repository}/commondir"):
        return "it takes its settings from elsewhere"
    for number, place in enumerate(directories(repository)):
        if number > MAX_MODULES:
            return "it has too many submodules to check"
        if danger := _hazard_in(place, repository):
            return danger
    return ""


def _hazard_of_pointer(file: str, known: Collection[str]) -> str:
    """Check a `.git` file, which points to the repository of a linked work tree or submodule."""
    text = read_small_text(file)
    if text is None or not text.startswith("gitdir:"):
        return "" if text == "" else "its target is not known"
    folder = os.path.realpath(os.path.join(os.path.dirname(file), text.removeprefix("gitdir:").strip()))
    for each in known:
        place = folder.removeprefix(f"{os.path.realpath(each)}/")
        if place.startswith("modules/"):
            return _hazard_in(folder, each)
        if place.startswith("worktrees/"):
            common = os.path.realpath(
                os.path.join(folder, (read_small_text(f"{folder}/commondir") or "").strip())
            )
            if common == os.path.realpath(each) and not os.path.lexists(f"{folder}/config.worktree"):
                return ""
    return f"it leads to {folder}"


def _hazard_in(directory: str, repository: str) -> str:
    for path in unexpected_entries(directory):
        if danger := hazard_of_entry(path, repository):
            return danger
    return ""


def hazard_of_entry(path: str, repository: str) -> str:
    """Describe what is wrong with a git directory entry that is not plain data; empty if git itself creates it so."""
    name = os.path.basename(path)
    if os.path.islink(path):
        return f"its {name} is a link"
    if name in ("config", "config.worktree"):
        text = read_small_text(path)
        if text is None:
            return f"its {name} cannot be checked"
        named = unsafe_setting(text)
        return f"its {name} sets {named}" if named else ""
    if name in ("hooks", "branches"):
        live = [
            each for each, _ in sorted(entries(path)) if name == "branches" or not each.endswith(".sample")
        ]
        return f"it has the hook {live[0]}" if live and name == "hooks" else f"it has {path}" if live else ""
    if name in POINTERS and os.path.dirname(os.path.dirname(path)) == f"{repository}/worktrees":
        leads = os.path.join(os.path.dirname(path), (read_small_text(path) or "").strip())
        is_fine = name != "commondir" or os.path.realpath(leads) == os.path.realpath(repository)
        return "" if is_fine else f"its {name} leads to {leads}"
    return f"git may act on its {name}"
