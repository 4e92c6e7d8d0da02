"""The `diagnostics` tool: list the problems that the editor reports."""

import os
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import InternalError
from hermes_acp.core.event_types import Location, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import DiagnosticsProvider, FileDiagnostic, Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import neutralize_markup, plain
from hermes_acp.tools.allowed_paths import allowed_among, omission_note
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.tool_schemas import schema_of

MAX_SHOWN: Final = 200
ORDER: Final = ("error", "warning", "information", "hint")


class Arguments(BaseModel):
    """The file or folder."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(description="File or folder")] = "."
    """A file or folder."""


class _NoDiagnostics:
    """A placeholder until the tool is bound."""

    async def file_diagnostics(self, path: str) -> Sequence[FileDiagnostic]:
        raise InternalError("diagnostics was offered without an editor.")


class Diagnostics:
    """Show errors and warnings from the editor, if the editor provides them."""

    name = "diagnostics"
    kind: ToolKind = "read"
    tool_metadata = ToolMetadata(capabilities=frozenset({"files"}), is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def __init__(self, diagnoses: DiagnosticsProvider) -> None:
        self._diagnoses = diagnoses

    def bind(self, diagnoses: DiagnosticsProvider | None) -> "Diagnostics | None":
        """Return the tool bound to an editor, or None if no editor reports problems."""
        return Diagnostics(diagnoses) if diagnoses else None

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Errors and warnings that the editor shows for files.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call. Raises OutsideRoots."""
        path = workspace.locate(arguments.path)

        async def ask(progress: Progress) -> Result:
            below = [
                each for each in await self._diagnoses.file_diagnostics(path) if _is_below(each.path, path)
            ]
            files = {os.path.normpath(each.path) for each in below}
            shown = await allowed_among(files, path, progress)
            found = [each for each in below if os.path.normpath(each.path) in shown]
            text = _told(found, workspace) + omission_note(len(files) - len(shown))
            return Result(neutralize_markup(text), locations=_places(found))

        title = f"Look for errors in {shown_path(path, workspace)}"
        return Proposal(title, self.kind, ask, (Reads(path),), locations=(Location(path),))


def _is_below(path: str, place: str) -> bool:
    return os.path.normpath(path) == place or os.path.normpath(path).startswith(place.rstrip("/") + "/")


def _told(found: Sequence[FileDiagnostic], workspace: Workspace) -> str:
    if not found:
        return "The editor shows no errors and no warnings there."
    lines = [
        f"{shown_path(each.path, workspace)}:{each.line}:{each.column}: {each.severity}: {plain(each.message, 500)}"
        + (f" ({plain(each.source, 60)})" if each.source else "")
        for each in sorted(found, key=lambda each: (ORDER.index(each.severity), each.path, each.line))
    ]
    if (left := len(lines) - MAX_SHOWN) > 0:
        lines[MAX_SHOWN:] = [f"[{left:,} more, less severe or further down]"]
    return "\n".join(lines)


def _places(found: Sequence[FileDiagnostic]) -> tuple[Location, ...]:
    return tuple(Location(each.path, each.line) for each in found[:20])


TOOL = Diagnostics(_NoDiagnostics())
