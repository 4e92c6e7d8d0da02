"""The `skill_manage` tool: let the agent create and change skills.

Every later session can read a skill, so the user is asked about each change unless they chose otherwise.
"""

from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.skill_ports import SkillChange, SkillPreview, SkillWriter
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Deletes, Effect, Progress, Proposal, Remembers, Result, Writes
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.store_failures import store_errors_as_refusals
from hermes_acp.tools.tool_schemas import schema_of

DOING = MappingProxyType(
    {
        "create": "Write the skill",
        "patch": "Change the skill",
        "write_file": "Write a file of the skill",
        "remove_file": "Remove a file of the skill",
        "delete": "Archive the skill",
    }
)
MAX_WARNINGS = 5
ABOUT = (
    "Write down for later sessions how to do a kind of task, or correct a skill: what took many attempts, what the "
    "user corrected. Prefer to patch one that is nearly right. No secrets, no one-off facts."
)


class Arguments(BaseModel):
    """The skill, and the change to it."""

    model_config = ConfigDict(extra="forbid")

    action: Annotated[
        Literal["create", "patch", "write_file", "remove_file", "delete", "report_failure"],
        Field(description="report_failure: it was followed and did not work"),
    ]
    """What to do. `report_failure`: the skill was followed but did not work."""
    name: Annotated[str, Field(description="Such as release-a-version")]
    """The skill, such as `release-a-version`."""
    reason: Annotated[str, Field(description="Why, in a sentence")]
    """Why, in a sentence."""
    text: Annotated[
        str,
        Field(
            description="The whole file; of a new skill a SKILL.md that begins ---, name: NAME, description: what it "
            "does and when to use it, ---; patch: what takes the place of old_text"
        ),
    ] = ""
    """The whole file, or with `patch` the text that replaces `old_text`."""
    old_text: Annotated[str, Field(description="patch: text that occurs there exactly once")] = ""
    """With `patch`: a passage that occurs exactly once."""
    file: Annotated[str, Field(description="If not SKILL.md")] = ""
    """The file, if not `SKILL.md`."""
    scope: Annotated[
        Literal["user", "workspace"],
        Field(description="create: for this user everywhere, or all who work here"),
    ] = "user"
    """With `create`: for this user everywhere, or for everyone who works in this folder."""


class SkillManage:
    """Create, change and archive skills."""

    name = "skill_manage"
    kind: ToolKind = "edit"
    tool_metadata = ToolMetadata(capabilities=frozenset({"files", "memory"}), needs=frozenset({"skill"}))
    arguments: type[BaseModel] = Arguments

    def __init__(self, workshop: SkillWriter | None = None) -> None:
        self._workshop = workshop

    def bind(self, skill_workshop: SkillWriter) -> "SkillManage":
        """Return the tool bound to a skill editor."""
        return SkillManage(skill_workshop)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, ABOUT, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a change and show its effect on the skill. Raises BadRequest for an invalid change."""
        workshop = self._workshop
        assert workshop, "an unbound tool is never in a toolbox"
        if arguments.action == "report_failure":
            return _report(workshop, arguments, workspace.cwd)
        change = SkillChange(
            arguments.action,
            arguments.name,
            arguments.reason,
            arguments.text,
            arguments.old_text,
            arguments.file,
            arguments.scope,
        )
        with store_errors_as_refusals():
            preview = await workshop.preview(workspace.cwd, change)

        async def write(progress: Progress) -> Result:
            with store_errors_as_refusals():
                told = await workshop.change(workspace.cwd, change, preview.state, progress.session_id)
            return Result(told, diffs=preview.diffs)

        return Proposal(
            _title(change, preview),
            "delete" if change.action in ("delete", "remove_file") else self.kind,
            write,
            _effects(preview),
            diffs=preview.diffs,
        )


def _report(workshop: SkillWriter, arguments: Arguments, cwd: str) -> Proposal:
    async def report(progress: Progress) -> Result:
        return Result(await workshop.report(cwd, arguments.name, progress.session_id))

    return Proposal(f"Note that the skill {arguments.name} did not work: {arguments.reason}", "think", report)


def _effects(preview: SkillPreview) -> tuple[Effect, ...]:
    """Return what a change affects: workspace files, or the user's own skills."""
    if preview.scope == "user":
        return tuple(Remembers(path, is_asked=True) for path in (*preview.written, *preview.removed))
    return (*map(Writes, preview.written), *map(Deletes, preview.removed))


def _title(change: SkillChange, preview: SkillPreview) -> str:
    whose = "yours, for every workspace" if preview.scope == "user" else "of this workspace"
    file = f" ({change.file})" if change.file else ""
    lines = [f"{DOING[change.action]} {change.name}{file}, {whose}: {' '.join(change.reason.split())}"]
    lines += (f"! {warning}" for warning in preview.warnings[:MAX_WARNINGS])
    if (more := len(preview.warnings) - MAX_WARNINGS) > 0:
        lines.append(f"! and {more} more")
    return "\n".join(lines)


TOOL = SkillManage()
