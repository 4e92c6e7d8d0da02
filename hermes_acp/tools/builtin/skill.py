"""The `skill` tool: load a skill's text or one of its other files."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.skill_ports import SkillContent, Skills, SkillUsageLog
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.tool_schemas import schema_of


class Arguments(BaseModel):
    """The skill, and the file to load."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(description="Without one, all are listed")] = ""
    """The skill. Without a name, all skills are listed."""
    query: Annotated[
        str, Field(description="Instead of a name: list skills that contain any of these words")
    ] = ""
    """Instead of a name: list the skills that contain any of these words."""
    file: Annotated[str, Field(description="Another file of the skill, such as references/api.md")] = ""
    """Another file of the skill, such as `references/api.md`."""


class Skill:
    """Load a skill, or one of its files."""

    name = "skill"
    kind: ToolKind = "read"
    tool_metadata = ToolMetadata(is_cheap=True, is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def __init__(self, skills: Skills | None = None, uses: SkillUsageLog | None = None) -> None:
        self._skills = skills
        self._uses = uses

    def bind(self, skills: Skills, skill_uses: SkillUsageLog | None) -> "Skill":
        """Return the tool bound to a skill library and to a log that records uses."""
        return Skill(skills, skill_uses)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Load a skill, or another file of it.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call. Raises BadRequest for an unknown skill or file."""
        skills, uses = self._skills, self._uses
        assert skills, "an unbound tool is never in a toolbox"
        if not arguments.name:
            return _listing(skills, skills.place(workspace), arguments.query)
        page = await skills.open(skills.place(workspace), arguments.name, arguments.file)

        async def load(progress: Progress) -> Result:
            if uses:
                uses.note(progress.session_id, page.name, page.folder)
            return Result(_laid_out(page))

        what = f"{arguments.file} of the skill" if arguments.file else "the skill"
        return Proposal(f"Load {what} {arguments.name}", self.kind, load)


def _listing(skills: Skills, cwd: str, words: str) -> Proposal:
    async def show(progress: Progress) -> Result:
        if words.strip():
            return Result("\n".join(await skills.find(cwd, words)) or "No skill contains any of these words.")
        return Result("\n".join(await skills.names(cwd)) or "There are no skills.")

    what = f"Look for skills: {escape_invisible(words)}" if words.strip() else "List the skills"
    return Proposal(what, Skill.kind, show)


def _laid_out(page: SkillContent) -> str:
    lines = [f"[skill {page.name}, from {page.place}; its files are in {page.folder}]", "", page.text]
    if page.files:
        lines += ["", f"[other files: {', '.join(page.files)}]"]
    if page.cut_out:
        lines += ["", f"[the injection scanner cut out: {'; '.join(page.cut_out)}]"]
    return "\n".join(lines)


TOOL = Skill()
