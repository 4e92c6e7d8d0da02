"""Compare the built-in skills of two versions of hermes-acp, and update the user's unedited copies.

Built-in skills are read from the running version, so they need no update. A skill with the same name in the user's
folder overrides a built-in one. An unedited copy would hide every later version, so an update replaces it. Skills that
were edited or installed from elsewhere stay unchanged.
"""

from collections.abc import Collection, Iterable
from pathlib import Path

from msgspec import Struct

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.skills.skill_collection import FILE
from hermes_acp.skills.skill_usage import SkillUsageTracker
from hermes_acp.storage.version_history import ChangeCause, read_tree, tree_digest


class BuiltinChanges(Struct, frozen=True, omit_defaults=True):
    """The built-in skills that differ between two versions, and the consequences for the user's own skills.

    `followed` lists the copies that were replaced, `hidden` the changed skills that a skill of the user overrides, and
    `installed` the user's skills from elsewhere.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    followed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()


def builtin_folder(environment: Path) -> Path | None:
    """Return the folder of an installation's built-in skills, or None."""
    found = sorted(environment.glob("lib/python3*/site-packages/hermes_acp/skills/bundled"))
    return found[0] if found else None


def builtin_digests(folder: Path | None) -> dict[str, str]:
    """Return the digest of each built-in skill, by name."""
    if folder is None:
        return {}
    return {
        path.parent.name: tree_digest(read_tree(path.parent)) for path in sorted(folder.glob(f"*/{FILE}"))
    }


def follow_builtin_skills(
    before: Path | None,
    now: Path,
    others: Iterable[Path],
    own: Path,
    installed: Collection[str],
    usage_tracker: SkillUsageTracker,
    at: float,
) -> BuiltinChanges:
    """Replace the unedited copies in the user's folder `own` and return the changes. Blocks. Raises StorageError.

    `before` and `now` are the built-in skill folders of the two versions. `others` are those of further versions, whose
    copies also count as unedited. `installed` lists the skills from elsewhere.
    """
    old, new = builtin_digests(before), builtin_digests(now)
    versions = [old, *map(builtin_digests, others)]
    changed = {name for name, digest in new.items() if old.get(name, digest) != digest}
    followed: list[str] = []
    hidden: list[str] = []
    for name, digest in new.items():
        copy = own / name
        found = _digest_of(copy)
        if found in ("", digest):
            continue
        known = {each[name] for each in versions if name in each}
        if found in known and name not in installed:
            files = {
                each.path: ((now / name / each.path).read_bytes(), each.is_executable)
                for each in read_tree(now / name)
            }
            cause = ChangeCause(
                "program", at, "the unedited copy of a built-in skill was updated to the new version"
            )
            usage_tracker.history(copy).replace_content(files, cause)
            followed.append(name)
        elif name in changed or name not in old:
            hidden.append(name)
    return BuiltinChanges(
        tuple(sorted(new.keys() - old.keys())),
        tuple(sorted(changed)),
        tuple(sorted(old.keys() - new.keys())),
        tuple(followed),
        tuple(hidden),
        tuple(sorted(installed)),
    )


def _digest_of(folder: Path) -> str:
    """Return the digest of a skill, or `-`, which matches no built-in skill, if its versions cannot be stored."""
    if folder.is_symlink():
        return "-"
    try:
        return tree_digest(read_tree(folder)) if (folder / FILE).is_file() else ""
    except (BadRequest, StorageError):
        return "-"
