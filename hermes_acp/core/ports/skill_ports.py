"""Skills: what can be read of them, how they are changed, how their use is counted."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff
from hermes_acp.core.ports.workspace_ports import Workspace


class SkillContent(Struct, frozen=True):
    """A skill's text, or another file of it; `place` says where it lies, for people, `cut_out` what the scanner took.

    `files` are what else lies in its `folder` (absolute), by path within it.
    """

    name: str
    folder: str
    place: str
    text: str
    files: tuple[str, ...] = ()
    cut_out: tuple[str, ...] = ()


SkillScope = Literal["user", "workspace"]


class SkillChange(Struct, frozen=True):
    """One change of a skill, and why it is made.

    `text` is what is written: a whole file, or what takes the place of `old_text` in one. `file` is the one that is
    meant, by its path in the skill's folder; without one it is the SKILL.md. `scope` is whose a new skill is.
    """

    action: Literal["create", "patch", "write_file", "remove_file", "delete"]
    name: str
    reason: str
    text: str = ""
    old_text: str = ""
    file: str = ""
    scope: SkillScope = "user"


class SkillPreview(Struct, frozen=True):
    """What a change would make of a skill's folder (absolute), which is in the state `state` now.

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
    """The skills there are, by the folder somebody works in."""

    def place(self, workspace: Workspace) -> str:
        """Return the folder of this machine whose skills count for a workspace; its own may be on another one."""
        ...

    async def names(self, cwd: str) -> tuple[str, ...]:
        """List them, each with what it is for."""
        ...

    async def find(self, cwd: str, words: str) -> tuple[str, ...]:
        """List those that hold any of the words, the best first. Raises BadRequest where there is no word."""
        ...

    async def open(self, cwd: str, name: str, file: str = "") -> SkillContent:
        """Return a skill's text, or another file of it. Raises BadRequest, with what there is instead."""
        ...


class SkillUsageLog(Protocol):
    """Whoever counts how skills do."""

    def note(self, session_id: str, name: str, folder: str) -> None:
        """Take down that a session's turn uses a skill, whose folder is absolute."""
        ...


class SkillWorkshop(Protocol):
    """Where the agent writes skills, by the folder it works in."""

    async def preview(self, cwd: str, change: SkillChange) -> SkillPreview:
        """Show what a change would make of a skill. Raises BadRequest for one that cannot be made."""
        ...

    async def change(self, cwd: str, change: SkillChange, state: str, session_id: str) -> str:
        """Make a change of the very skill that was in that state, and say what came of it.

        Raises BadRequest, StorageError.
        """
        ...

    async def report(self, cwd: str, name: str, session_id: str) -> str:
        """Take down that a skill did not work, and say what follows. Raises BadRequest."""
        ...


class SkillSuggestion(Struct, frozen=True):
    """A skill that seems to fit what the user asked."""

    name: str
    about: str


class SkillSuggester(Protocol):
    """Whoever knows which skills fit a prompt."""

    def look(self, session_id: str, workspace: Workspace, prompt: str) -> None:
        """Begin to find out, beside whatever else goes on."""
        ...

    async def fitting(self, session_id: str, max_wait_s: float) -> Sequence[SkillSuggestion]:
        """Return what was found and not told in this session yet, after waiting for at most so long."""
        ...

    def forget(self, session_id: str) -> None:
        """Find out nothing more for a session that closes."""
        ...
