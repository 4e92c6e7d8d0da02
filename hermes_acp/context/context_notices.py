"""Write notices for users about their context files."""

import os
import shlex
from typing import TYPE_CHECKING

from hermes_acp.context.context_files import ContextFile, ContextFiles

if TYPE_CHECKING:
    from injection_scanner.findings import Finding


def context_notices(context: ContextFiles) -> tuple[str, ...]:
    """Return a notice for each unused file and for each suspicious passage in the other files."""
    refused = (f"{refusal.path} is not used: {refusal.why}" for refusal in context.refusals)
    found = (notice for file in context.files for notice in file_notices(file, context.root))
    return (*refused, *found)


def file_notices(file: ContextFile, root: str) -> tuple[str, ...]:
    """Return notices about the findings in a file, and how to allow it; empty if the user has allowed it."""
    told = [finding for finding in file.findings if finding.severity != "info" and not file.is_allowed]
    notices = [f"{file.path}, line {finding.line}: {_told(finding)}" for finding in told]
    if any(finding.severity == "block" for finding in told):
        place = shlex.quote(os.path.join(root, file.path))
        notices.append(f"To allow {file.path} unchanged: `hermes-acp scan --allow {place}`.")
    return tuple(notices)


def _told(finding: "Finding") -> str:
    if finding.severity == "block":
        return f"{finding.why} The passage was left out ({finding.rule})."
    return f"{finding.why.removesuffix('.')} ({finding.rule})."
