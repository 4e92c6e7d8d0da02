"""Skills: reading, changing, suggesting them, and counting their use."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff
from hermes_acp.core.ports.workspace_ports import Workspace


class SkillContent(Struct, frozen=True):
    """A skill's text, or another file of it; `place` says where it is, `cut_out` what the scanner removed.

    `files` are the other files in its `folder` (absolute), by path within it.
    """

    name: str
    folder: str
    place: str
    text: str
    files: tuple[str, ...] = ()
    cut_out: tuple[str, ...] = ()


SkillScope = Literal["user", "workspace"]


class SkillChange(Struct, frozen=True):
    """One change of a skill, and its reason.

    `text` is what is written: a whole file, or what replaces `old_text` in one. `file` is a path in the skill's
    folder; empty is the SKILL.md. `scope` says whose a new skill is.
    """

    action: Literal["create", "patch", "write_file", "remove_file", "delete"]
    name: str
    reason: str
    text: str = ""
    old_text: str = ""
    file: str = ""
    scope: SkillScope = "user"


class SkillPreview(Struct, frozen=True):
    """What a change would make of a skill's folder (absolute), whose present state is `state`.

    `written` and `removed` are files by their absolute paths, `warnings` what whoever decides should know.
    """

    folder: str
    scope: SkillScope
    state: str
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    diffs: tuple[Diff, ...] = ()
    warnings: tuple[str, ...] = ()


class Skills(Protocol):
    """The available skills, by working directory."""

    def place(self, workspace: Workspace) -> str:
        """Return the folder of this machine whose skills count for a workspace, which may be on another machine."""
        ...

    async def names(self, cwd: str) -> tuple[str, ...]:
        """List the skills, each with what it is for."""
        ...

    async def find(self, cwd: str, words: str) -> tuple[str, ...]:
        """List the skills that contain any of the words, the best first. Raises BadRequest where there is no word."""
        ...

    async def open(self, cwd: str, name: str, file: str = "") -> SkillContent:
        """Return a skill's text, or another file of it. Raises BadRequest, which lists what there is."""
        ...


class SkillUsageLog(Protocol):
    """The log of how skills are used."""

    def note(self, session_id: str, name: str, folder: str) -> None:
        """Record that a session's turn uses a skill, whose folder is absolute."""
        ...


class SkillWorkshop(Protocol):
    """The editor of skills, by the folder the agent works in."""

    async def preview(self, cwd: str, change: SkillChange) -> SkillPreview:
        """Show what a change would make of a skill. Raises BadRequest."""
        ...

    async def change(self, cwd: str, change: SkillChange, state: str, session_id: str) -> str:
        """Change a skill that is still in the previewed state, and describe the result.

        Raises BadRequest, StorageError.
        """
        ...

    async def report(self, cwd: str, name: str, session_id: str) -> str:
        """Record that a skill did not work, and say what follows. Raises BadRequest."""
        ...


class SkillSuggestion(Struct, frozen=True):
    """A skill that seems to fit what the user asked."""

    name: str
    about: str


class SkillSuggester(Protocol):
    """Finds skills that fit a prompt."""

    def look(self, session_id: str, workspace: Workspace, prompt: str) -> None:
        """Start a search in the background."""
        ...

    async def fitting(self, session_id: str, max_wait_s: float) -> Sequence[SkillSuggestion]:
        """Return the skills found and not yet suggested in this session, after waiting at most `max_wait_s`."""
        ...

    def forget(self, session_id: str) -> None:
        """Drop the search of a session that closes."""
        ...
