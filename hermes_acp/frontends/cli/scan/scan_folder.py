"""Choose the files of a folder that `hermes-acp scan` scans.

Files that git ignores are skipped, unless agents read them anyway.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio

from hermes_acp.context.context_search import files_in
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.workspace_ports import FileQuery
from hermes_acp.frontends.cli.messages import scan_messages
from hermes_acp.storage.bounded_reading import read_regular_file
from hermes_acp.workspaces.ripgrep import find

TEXTS: Final = (".md", ".mdc", ".markdown", ".txt")
"""Suffixes of prose files, which agents may read; context files can import no other files."""
MAX_FILES: Final = 200_000
MAX_BYTES: Final = 16 << 20
BINARY_BYTES: Final = 8 << 10


def files_of(folder: str, variables: Mapping[str, str], *, takes_all: bool) -> list[str]:
    """Return the files to scan below a folder, sorted by path; `variables` are the environment variables.

    These are prose files and context files of every kind, even ignored ones, because agents read them anyway; with
    `takes_all`, every file. Raises WorkspaceError if ripgrep is missing.
    """
    query = FileQuery("", os.path.abspath(folder), limit=MAX_FILES)
    walked = anyio.run(find, query, variables, (query.path,)).paths
    folders = {query.path, *map(os.path.dirname, walked)}
    for_agents = {str(path) for each in folders for path in files_in(Path(each))}
    for_readers = {path for path in walked if takes_all or path.lower().endswith(TEXTS)}
    return [
        os.path.join(folder, os.path.relpath(path, query.path)) for path in sorted(for_agents | for_readers)
    ]


def read_within(folder: str, file: str) -> bytes | None:
    """Read a file in a folder, or return None if it is not text. Raises BadRequest for an unreadable file."""
    content = read_regular_file(Path(file), Path(os.path.realpath(folder)), MAX_BYTES)
    if isinstance(content, str):
        raise BadRequest(scan_messages.file_not_checked(file, content))
    return None if b"\0" in content[:BINARY_BYTES] else content
