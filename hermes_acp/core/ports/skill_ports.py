"""Ports for skills: reading, changing and suggesting them, and counting their use."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff, Surface
from hermes_acp.core.ports.workspace_ports import Workspace


class SkillContent(Struct, frozen=True):
    """A skill's text, or another of its files; `place` is its location, `cut_out` the text that the scanner removed.

    `files` lists the other files in its `folder` (an absolute path), by relative path.
    """

    name: str
    folder: str
    place: str
    text: str
    files: tuple[str, ...] = ()
    cut_out: tuple[str, ...] = ()


SkillScope = Literal["user", "workspace"]


class SkillChange(Struct, frozen=True):
    """A change to a skill, with its reason.

    `text` is a whole file, or the replacement for `old_text` in one. `file` is a path in the skill's folder, or empty
    for SKILL.md. `scope` says to whom a new skill belongs.
    """

    action: Literal["create", "patch", "write_file", "remove_file", "delete"]
    name: str
    reason: str
    text: str = ""
    old_text: str = ""
    file: str = ""
    scope: SkillScope = "user"


class SkillPreview(Struct, frozen=True):
    """A preview of a skill's folder (an absolute path) after a change; `state` is its current state.

    `written` and `removed` list files by absolute path; `warnings` are for the person who decides.
    """

    folder: str
    scope: SkillScope
    state: str
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    diffs: tuple[Diff, ...] = ()
    warnings: tuple[str, ...] = ()


class Skills(Protocol):
    """The available skills, looked up by working directory."""

    def place(self, workspace: Workspace) -> str:
        """Return the folder on this machine whose skills apply to a workspace, which may be on another machine."""
        ...

    async def names(self, cwd: str) -> tuple[str, ...]:
        """List the skills with their descriptions."""
        ...

    async def find(self, cwd: str, words: str) -> tuple[str, ...]:
        """List the skills that contain any of the words, best first. Raises BadRequest if there are no words."""
        ...

    async def open(self, cwd: str, name: str, file: str = "") -> SkillContent:
        """Return a skill's text, or another of its files. Raises BadRequest, which lists the available ones."""
        ...


class SkillUsageLog(Protocol):
    """The log of skill usage."""

    def note(self, session_id: str, name: str, folder: str) -> None:
        """Record that a turn of a session uses a skill; `folder` is an absolute path."""
        ...


class SkillWriter(Protocol):
    """Edits skills, looked up by the agent's working directory."""

    async def preview(self, cwd: str, change: SkillChange) -> SkillPreview:
        """Preview a change to a skill. Raises BadRequest."""
        ...

    async def change(self, cwd: str, change: SkillChange, state: str, session_id: str) -> str:
        """Change a skill that is still in the previewed state, and describe the result.

        Raises BadRequest or StorageError.
        """
        ...

    async def report(self, cwd: str, name: str, session_id: str) -> str:
        """Record that a skill did not work, and describe the consequence. Raises BadRequest."""
        ...


class SkillSuggestion(Struct, frozen=True):
    """A skill that seems to match the user's prompt.

    If it is likely to be the right one, it is also shown to the user.
    """

    name: str
    about: str
    is_likely: bool = True


class SkillSuggester(Protocol):
    """Finds skills that match a prompt."""

    def look(self, session_id: str, workspace: Workspace, prompt: str, surface: Surface) -> None:
        """Start a background search for a session that started on the given surface."""
        ...

    async def fitting(self, session_id: str, max_wait_s: float) -> Sequence[SkillSuggestion]:
        """Return skills that were found and not yet suggested in this session, after waiting at most `max_wait_s`."""
        ...

    def forget(self, session_id: str) -> None:
        """Discard the search of a session that is closing."""
        ...
