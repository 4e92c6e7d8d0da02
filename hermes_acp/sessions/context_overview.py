"""List the context files that sessions in a folder read. Functions block on disk I/O."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.core.record.session_record import Record

if TYPE_CHECKING:
    from hermes_acp.context.context_approvals import ContextApprovals
    from hermes_acp.context.context_files import ContextFiles
    from hermes_acp.core.denied_paths import DeniedPath


def session_context(
    record: Record, home: Path, unread: "tuple[DeniedPath, ...]", context: "ContextApprovals"
) -> "tuple[ContextFiles, ContextFiles]":
    """Return the context files of a session's folders, and those of the subfolders that it has encountered."""
    from hermes_acp.context.context_file_monitor import consent_for
    from hermes_acp.context.context_files import collect_context, collect_context_below
    from hermes_acp.context.context_search import SearchScope, folders_below
    from hermes_acp.storage.allowed_texts import read_allowed

    place = SearchScope(record.cwd, record.roots[1:], str(home), unread)
    allowed = read_allowed(home)
    folders = folders_below(place, map(os.path.dirname, tuple(record.seen)))
    admits = consent_for(record, context).admits
    return (
        collect_context(place, allowed=allowed, admits=admits),
        collect_context_below(place, folders, allowed, admits),
    )


def folder_context(
    cwd: str, more_roots: tuple[str, ...], home: Path, unread: "tuple[DeniedPath, ...]"
) -> "ContextFiles":
    """Return the context files that a new session in the folder would read."""
    from hermes_acp.context.context_files import collect_context
    from hermes_acp.context.context_search import SearchScope
    from hermes_acp.storage.allowed_texts import read_allowed

    place = SearchScope(cwd, more_roots, str(home), unread)
    return collect_context(place, allowed=read_allowed(home))
