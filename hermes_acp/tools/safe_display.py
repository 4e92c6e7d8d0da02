"""Show paths so that nothing in them can deceive the reader."""

from hermes_acp.core.ports.workspace_ports import Files
from hermes_acp.core.visible_text import escape_invisible


def shown_path(path: str, workspace: Files) -> str:
    """Return a resolved path for display, relative if in the working directory, with invisible characters escaped."""
    inside = workspace.cwd.rstrip("/") + "/"
    if path == workspace.cwd:
        return "."
    return escape_invisible(path.removeprefix(inside))
