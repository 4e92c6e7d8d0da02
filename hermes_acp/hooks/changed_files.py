"""Find files that hooks changed after a call, and show the changes as part of the call's edit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from anyio.to_thread import run_sync
from msgspec import structs

from hermes_acp.core.event_types import Diff, FileVersion
from hermes_acp.core.proposals import Result
from hermes_acp.core.record.file_versions import file_version

MAX_FILES: Final = 20


async def files_on_disk(result: Result) -> tuple[FileVersion, ...]:
    """Return the files in a call's result whose content is on this machine's disk, up to a limit.

    Other files are unsaved in an editor, drafts, or on another machine.
    """
    versions = result.seen[:MAX_FILES]
    return await run_sync(_unchanged, versions) if versions else ()


async def with_changed_files(
    result: Result, known: tuple[FileVersion, ...]
) -> tuple[Result, tuple[str, ...]]:
    """Return a call's result with its diffs updated to the current files, and the paths of the changed files.

    `known` contains the earlier contents on disk. The versions that the model has seen stay as they were.
    """
    if not known:
        return result, ()
    changed = await run_sync(_changed, known)
    versions = {version.path: version for version in known}
    diffs = tuple(_updated(diff, versions, changed) for diff in result.diffs)
    return structs.replace(result, diffs=diffs), tuple(changed)


def _changed(versions: tuple[FileVersion, ...]) -> dict[str, bytes]:
    """Return the current content of the files that no longer match the given versions. Blocks."""
    found = {version.path: (version, _content_of(version.path)) for version in versions}
    return {
        path: content
        for path, (version, content) in found.items()
        if content is not None and file_version(path, content) != version
    }


def _unchanged(versions: tuple[FileVersion, ...]) -> tuple[FileVersion, ...]:
    found = ((version, _content_of(version.path)) for version in versions)
    return tuple(
        version
        for version, content in found
        if content is not None and file_version(version.path, content) == version
    )


def _content_of(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None


def _updated(diff: Diff, versions: Mapping[str, FileVersion], changed: Mapping[str, bytes]) -> Diff:
    """Update a diff to end with the current content, if the diff contains the whole file and both are UTF-8."""
    if diff.path not in changed or diff.is_deleted or diff.is_masked:
        return diff
    written = diff.new_text.encode("utf-8", "surrogatepass")
    if file_version(diff.path, written) != versions[diff.path]:
        return diff
    try:
        return structs.replace(diff, new_text=changed[diff.path].decode())
    except UnicodeDecodeError:
        return diff
