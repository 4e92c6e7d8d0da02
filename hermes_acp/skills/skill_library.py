"""The skills of every place in which a process works, read once and reread when they change.

A place is a working directory; its cache is refreshed when one of its files changes.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Surface
from hermes_acp.core.ports.skill_ports import SkillContent
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.skills.inline_commands import with_commands
from hermes_acp.skills.scan_records import ScanRecords
from hermes_acp.skills.skill_collection import (
    FILE,
    Fingerprint,
    Skill,
    SkillCollection,
    SkillReader,
    blocked,
    collect_skills,
    fingerprint,
)
from hermes_acp.skills.skill_folders import SkillFolder, find_skill_folders, parents
from hermes_acp.skills.suggestions.skill_search import search_skills
from hermes_acp.storage.allowed_texts import digest_of, read_allowed
from hermes_acp.storage.bounded_reading import read_regular_file

MAX_FILE_BYTES: Final = 256 << 10
INDEX_CHARACTERS: Final = 8_000
LINE_CHARACTERS: Final = 300
LISTED_FILES: Final = 40
HEAD: Final = (
    "Skills: know-how for certain tasks, written down by people or by you. Before a task that one of them fits, load "
    "it with the tool skill and follow it as far as the user's words allow. They are:"
)


class _Read(Struct, frozen=True):
    mark: Fingerprint
    tools: frozenset[str]
    disabled: frozenset[str]
    collection: SkillCollection


class SkillLibrary:
    """The entry point for all skill lookups."""

    def __init__(
        self,
        home: Path,
        user_home: Path,
        is_elsewhere: Callable[[Workspace], bool] = lambda _: False,
        admits: Callable[[str, Skill, Path], bool] | None = None,
        is_foreign: Callable[[str], bool] = lambda _: False,
        disabled: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        """Initialise without reading anything.

        `is_elsewhere` returns whether a workspace's files are on another machine.

        `admits` returns whether the `skill` tool may show a file of a workspace skill in a place, `is_foreign` whether
        a path belongs to another profile, and `disabled` which skills are turned off.
        """
        self.is_foreign = is_foreign
        self._is_elsewhere = is_elsewhere
        self._admits = admits
        self._disabled = disabled
        self._written: dict[Path, str] = {}
        self._home = home
        self._user_home = user_home
        self._tools: frozenset[str] = frozenset()
        self._read: dict[str, _Read] = {}
        self._reading = SkillReader(is_foreign=is_foreign)
        self.records = ScanRecords(home)

    def know_tools(self, names: Iterable[str]) -> None:
        """Set the available tools, which some skills require."""
        self._tools = frozenset(names)

    def place(self, workspace: Workspace) -> str:
        """Return the folder whose skills apply to a workspace. Remote workspaces only have the user's own skills."""
        return str(self._home) if self._is_elsewhere(workspace) else workspace.cwd

    def find_skill_folders(self, cwd: str) -> tuple[SkillFolder, ...]:
        """Return a place's skill folders. Blocks."""
        found = find_skill_folders(cwd, self._home, self._user_home)
        return tuple(each for each in found if each.scope == "builtin" or not self.is_foreign(str(each.path)))

    def parents(self, cwd: str) -> frozenset[Path]:
        """Return the folders where a skills folder may be created. Blocks."""
        return parents(cwd, self._home, self._user_home)

    def collection(self, cwd: str) -> SkillCollection:
        """Return the current skills of a place. Blocks."""
        places = self.find_skill_folders(cwd)
        mark, allowed = fingerprint(places), read_allowed(self._home)
        if allowed != self._reading.allowed:
            self._reading, self._read = SkillReader(allowed, self.is_foreign), {}
        kept, disabled = self._read.get(cwd), self._disabled()
        if kept is None or (kept.mark, kept.tools, kept.disabled) != (mark, self._tools, disabled):
            found = collect_skills(places, self._tools, reading=self._reading, disabled=disabled)
            kept = self._read[cwd] = _Read(mark, self._tools, disabled, found)
        return kept.collection

    def findings(self, cwd: str) -> Mapping[str, tuple[str, ...]]:
        """Return the passages that the scanner blocks in each skill of a place, by folder.

        Blocks; the first call is slow.
        """
        found = {skill.folder: self.records.of(skill) for skill in self.collection(cwd).skills}
        self.records.keep()
        return found

    def skills_for(self, workspace: Workspace) -> tuple[Skill, ...]:
        """Return the skills that apply to a workspace. Blocks."""
        return self.collection(self.place(workspace)).skills

    def index(self, cwd: str, surface: Surface = "") -> str:
        """Return the prompt's text about a place's skills, or an empty string if there are none. Blocks.

        Skills that are not for the session's surface are left out, if the surface is known.
        """
        lines = [_line(skill) for skill in self.collection(cwd).skills if skill.document.suits(surface)]
        shown: list[str] = []
        left = INDEX_CHARACTERS
        for line in lines:
            left -= len(line)
            if left < 0:
                shown.append(
                    f"- and {len(lines) - len(shown)} more: call the tool skill without a name to list all"
                )
                break
            shown.append(line)
        return "\n".join((HEAD, *shown)) if shown else ""

    async def open(self, cwd: str, name: str, file: str = "") -> SkillContent:
        """Return a skill's text or another of its files. Raises BadRequest, which lists the alternatives."""
        return await run_sync(self._open, cwd, name, file)

    async def names(self, cwd: str) -> tuple[str, ...]:
        """List a place's skills with their descriptions."""
        return await run_sync(lambda: tuple(self._line(cwd, skill) for skill in self.collection(cwd).skills))

    async def find(self, cwd: str, words: str) -> tuple[str, ...]:
        """Return a place's skills that contain any of the words, best first. Raises BadRequest if there are none."""

        def search() -> tuple[str, ...]:
            return tuple(self._line(cwd, each) for each in search_skills(self.collection(cwd).skills, words))

        return await run_sync(search)

    def _is_admitted(self, cwd: str, skill: Skill, file: str = FILE) -> bool:
        """Return whether a file of a skill, and its SKILL.md, may be used in a place."""
        files = dict.fromkeys(Path(skill.folder, name) for name in (FILE, file))
        return skill.scope != "workspace" or all(
            self._admits is None or self._admits(cwd, skill, path) or self._is_as_written(path)
            for path in files
        )

    def note_written(self, path: Path, content: bytes) -> None:
        """Record that the agent wrote a skill file with the user's consent."""
        self._written[path.resolve()] = digest_of(content)

    def _is_as_written(self, path: Path) -> bool:
        """Return whether a file is unchanged since the agent wrote it."""
        folder = path.parent.resolve()
        content = read_regular_file(folder / path.name, folder, MAX_FILE_BYTES)
        known = self._written.get(folder / path.name)
        return known is not None and isinstance(content, bytes) and digest_of(content) == known

    def _line(self, cwd: str, skill: Skill) -> str:
        if self._is_admitted(cwd, skill):
            return _line(skill)
        return f"- {skill.name}: appeared or changed during this session and is not used"

    def _open(self, cwd: str, name: str, file: str) -> SkillContent:
        collection = self.collection(cwd)
        skill = collection.find(name)
        if skill is None:
            known = ", ".join(each.name for each in collection.skills) or "none"
            raise BadRequest(f"There is no skill {name[:80]!r}.", hint=f"The skills are: {known}.")
        files = skill.files()
        if not self._is_admitted(cwd, skill, file if file in files else FILE):
            raise BadRequest(
                f"{skill.label}/{file or FILE} appeared or changed during this session and is not used without the "
                "user's consent.",
                hint="Ask the user: `/trust` lets a SKILL.md be used at once. Do not read the file by other means.",
            )
        if file in ("", FILE):
            # Workspace skills must not tell the model to run anything unless the user invokes them.
            body = skill.body if skill.scope == "workspace" else with_commands(skill.body)
            return SkillContent(name, skill.folder, skill.label, body, files[:LISTED_FILES], skill.findings)
        if file not in files:
            raise BadRequest(
                f"The skill {name} has no file {file[:200]!r}.",
                hint=f"Its files are: {', '.join(files[:20]) or 'none'}.",
            )
        text, cut_out = _read_file(skill, file, self._reading.allowed)
        return SkillContent(name, skill.folder, f"{skill.label}/{file}", text, cut_out=cut_out)


def _line(skill: Skill) -> str:
    said = skill.document.description
    short = said if len(said) <= LINE_CHARACTERS else said[: LINE_CHARACTERS - 1] + "…"
    surfaces = skill.document.surfaces
    only = f" (only for: {', '.join(surfaces)})" if surfaces else ""
    return f"- {skill.name}: {short}{only}"


def _read_file(skill: Skill, file: str, allowed: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """Return another file of a skill, and what the scanner cut from it. Raises BadRequest if it is not text."""
    folder = Path(skill.folder).resolve()
    content = read_regular_file(folder / file, folder, MAX_FILE_BYTES)
    if isinstance(content, str):
        raise BadRequest(f"{file} of the skill {skill.name}: {content}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "Use it in place with a command."
        raise BadRequest(f"{file} of the skill {skill.name} is not a text file.", hint=hint) from error
    if skill.scope == "builtin" or digest_of(content) in allowed:
        return text, ()
    from injection_scanner.scanner import scan

    report = scan(text.replace("\r\n", "\n"))
    return report.clean_text, blocked(report)
