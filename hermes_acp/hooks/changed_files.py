"""Find the files that hooks have changed since a call, and show them as a part of its edit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from anyio.to_thread import run_sync
from msgspec import structs

from hermes_acp.core.event_types import Diff, FileVersion
from hermes_acp.core.proposals import Result
from hermes_acp.core.record.file_versions import file_version

MAX_FILES: Final = 20


async def with_changed_files(result: Result) -> tuple[Result, tuple[str, ...]]:
    """Return a call's result with its diffs as the files are now, and the paths of the changed files.

    Only files on this machine are compared; of many, the first. What the model has seen stays what it was.
    """
    if not result.seen:
        return result, ()
    changed = await run_sync(_changed, result.seen[:MAX_FILES])
    versions = {version.path: version for version in result.seen}
    diffs = tuple(_updated(diff, versions, changed) for diff in result.diffs)
    return structs.replace(result, diffs=diffs), tuple(changed)


def _changed(versions: tuple[FileVersion, ...]) -> dict[str, bytes]:
    """Return the present content of the files whose content is no longer the one given. Blocks."""
    found: dict[str, bytes] = {}
    for version in versions:
        try:
            content = Path(version.path).read_bytes()
        except OSError:
            continue
        if file_version(version.path, content) != version:
            found[version.path] = content
    return found


def _updated(diff: Diff, versions: Mapping[str, FileVersion], changed: Mapping[str, bytes]) -> Diff:
    """Return a diff that ends with the present content, if it contains the whole file and both are UTF-8."""
    if diff.path not in changed or diff.is_deleted or diff.is_masked:
        return diff
    written = diff.new_text.encode("utf-8", "surrogatepass")
    if file_version(diff.path, written) != versions[diff.path]:
        return diff
    try:
        return structs.replace(diff, new_text=changed[diff.path].decode())
    except UnicodeDecodeError:
        return diff
