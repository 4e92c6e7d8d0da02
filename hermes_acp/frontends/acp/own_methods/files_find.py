"""_hermes/files/find: files in a session's folder whose names match what the user has typed."""

import os
from typing import Final

from hermes_acp.core.ports.workspace_ports import FileQuery
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own

MAX_RESULTS: Final = 100
MAX_LOOKED_AT: Final = 400
MAX_QUERY: Final = 200
WILD: Final = frozenset("*?[]{}!\\")


async def find_files(client: ClientConnection, params: own.FilesFindParams) -> own.FilesFindResult:
    """Find files that are not ignored, in the session's workspace. Raises SessionNotFound or WorkspaceError."""
    workspace = client.session(params.session_id).workspace
    typed = params.query[:MAX_QUERY].lstrip("/")
    found = await workspace.find(FileQuery(_glob(typed), workspace.cwd, MAX_LOOKED_AT))
    # The newest files usually come first, and sorting is stable.
    ranked = sorted(found.paths, key=lambda path: _rank(path, typed.casefold()))
    shown = ranked[: max(1, min(params.limit, MAX_RESULTS))]
    files = [own.FilesFindFile(path=path, name=os.path.relpath(path, workspace.cwd)) for path in shown]
    return own.FilesFindResult(files=files)


def _glob(typed: str) -> str:
    """Return a case-insensitive glob pattern for names that contain the typed text."""
    return f"**/*{''.join(_either_case(each) for each in typed)}*" if typed else "**/*"


def _either_case(letter: str) -> str:
    lower, upper = letter.lower(), letter.upper()
    if lower != upper and len(lower) == len(upper) == 1:
        return f"[{lower}{upper}]"
    return "?" if letter in WILD or not letter.isprintable() else letter


def _rank(path: str, typed: str) -> int:
    name = os.path.basename(path).casefold()
    return 0 if name.startswith(typed) else 1 if typed in name else 2


EXTENSION = Method(own.FilesFindParams, find_files, access="view")
