"""Show paths so that nothing in them can deceive the reader."""

from hermes_acp.core.ports.workspace_ports import Files
from hermes_acp.core.visible_text import escape_invisible


def shown_path(path: str, workspace: Files) -> str:
    """Return a resolved path for display: relative inside the working directory, with nothing hidden."""
    inside = workspace.cwd.rstrip("/") + "/"
    if path == workspace.cwd:
        return "."
    return escape_invisible(path.removeprefix(inside))
