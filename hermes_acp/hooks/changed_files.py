"""Find the files that a hook has changed since a call."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from anyio.to_thread import run_sync

from hermes_acp.core.event_types import FileVersion
from hermes_acp.core.record.file_versions import file_version

MAX_FILES: Final = 20


async def changed_files(versions: Sequence[FileVersion]) -> tuple[str, ...]:
    """Return the paths of files on this machine whose content is no longer the one given; of many, the first."""
    return await run_sync(_changed, tuple(versions[:MAX_FILES])) if versions else ()


def _changed(versions: Sequence[FileVersion]) -> tuple[str, ...]:
    return tuple(each.path for each in versions if _is_changed(each))


def _is_changed(version: FileVersion) -> bool:
    try:
        return file_version(version.path, Path(version.path).read_bytes()) != version
    except OSError:
        return False
