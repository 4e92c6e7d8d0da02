"""The tool that tells what the editor finds wrong in files.

Knows: how errors and warnings read. Does not know: editors; where there is none that can tell, the tool is not offered.
"""

import os
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import Bug
from hermes_acp.core.exchanges import Trouble
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.terms import Location, ToolKind
from hermes_acp.core.tool_ports import Diagnoses
from hermes_acp.core.traits import Traits
from hermes_acp.core.untrusted import disarmed, plain
from hermes_acp.tools.open_paths import left_out, open_among
from hermes_acp.tools.schemas import schema_of
from hermes_acp.tools.titles import shown_path

MOST_SHOWN: Final = 200
ORDER: Final = ("error", "warning", "information", "hint")


class Arguments(BaseModel):
    """Which file or folder."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(description="File or folder")] = "."


class _Nobody:
    """The stand-in until the tool is bound."""

    async def troubles(self, path: str) -> Sequence[Trouble]:
        raise Bug("diagnostics was offered without an editor.")


class Diagnostics:
    """Asks the editor for its errors and warnings."""

    name = "diagnostics"
    kind: ToolKind = "read"
    traits = Traits(capabilities=frozenset({"files"}), is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def __init__(self, diagnoses: Diagnoses) -> None:
        self._diagnoses = diagnoses

    def bind(self, diagnoses: Diagnoses | None) -> "Diagnostics | None":
        """Give the tool as it asks an editor; None where none can tell."""
        return Diagnostics(diagnoses) if diagnoses else None

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Errors and warnings that the editor shows for files.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Understand a call. Raises OutsideRoots."""
        path = workspace.locate(arguments.path)

        async def ask(progress: Progress) -> Result:
            below = [each for each in await self._diagnoses.troubles(path) if _is_below(each.path, path)]
            files = {os.path.normpath(each.path) for each in below}
            shown = await open_among(files, path, progress)
            found = [each for each in below if os.path.normpath(each.path) in shown]
            text = _told(found, workspace) + left_out(len(files) - len(shown))
            return Result(disarmed(text), locations=_places(found))

        title = f"Look for errors in {shown_path(path, workspace)}"
        return Proposal(title, self.kind, ask, (Reads(path),), locations=(Location(path),))


def _is_below(path: str, place: str) -> bool:
    return os.path.normpath(path) == place or os.path.normpath(path).startswith(place.rstrip("/") + "/")


def _told(found: Sequence[Trouble], workspace: Workspace) -> str:
    if not found:
        return "The editor shows no errors and no warnings there."
    lines = [
        f"{shown_path(each.path, workspace)}:{each.line}:{each.column}: {each.severity}: {plain(each.message, 500)}"
        + (f" ({plain(each.source, 60)})" if each.source else "")
        for each in sorted(found, key=lambda each: (ORDER.index(each.severity), each.path, each.line))
    ]
    if (left := len(lines) - MOST_SHOWN) > 0:
        lines[MOST_SHOWN:] = [f"[{left:,} more, less severe or further down]"]
    return "\n".join(lines)


def _places(found: Sequence[Trouble]) -> tuple[Location, ...]:
    return tuple(Location(each.path, each.line) for each in found[:20])


TOOL = Diagnostics(_Nobody())
