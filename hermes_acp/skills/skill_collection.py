"""Read the usable skills of a place from folders, filtered by name, scanner, platform and tools.

Functions block on disk I/O.
"""

import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.skills.skill_document import SkillDocument, read_document
from hermes_acp.skills.skill_folders import Scope, SkillFolder
from hermes_acp.storage.bounded_reading import read_regular_file

if TYPE_CHECKING:
    from injection_scanner.findings import ScanReport

FILE: Final = "SKILL.md"
MAX_BYTES: Final = 256 << 10
MAX_FILES: Final = 500
MAX_SKILLS: Final = 500
"""Maximum number of skills read from one scope."""
TOO_MANY_SKILLS: Final = (
    f"There are more than {MAX_SKILLS} such skills; this one and the following ones are not read."
)
DISABLED: Final = "It is turned off by `skills.disabled` in config.yaml."
PLATFORMS: Final = MappingProxyType(
    {"linux": ("linux",), "darwin": ("macos", "darwin", "mac"), "win32": ("windows", "win32")}
)
TOOL_GROUPS: Final = MappingProxyType(
    {
        "files": frozenset({"read_file", "edit_file", "write_file", "apply_patch", "glob", "search"}),
        "terminal": frozenset({"terminal", "process"}),
        "code": frozenset({"execute_code"}),
        "browser": frozenset({"browser"}),
        "web": frozenset({"web_search", "web_fetch"}),
        "memory": frozenset({"memory", "session_search"}),
        "skills": frozenset({"skill", "skill_manage"}),
        "delegation": frozenset({"delegate"}),
        "schedules": frozenset({"schedule"}),
        "boards": frozenset({"board", "card"}),
    }
)
"""The built-in tools by group. A skill that needs a group is offered if any of its tools is available."""
Fingerprint = tuple[tuple[str, int, int], ...]


class Skill(Struct, frozen=True):
    """A usable skill.

    `folder` is absolute; `digest` is the digest of the whole SKILL.md. `is_allowed` says that the user allows the skill
    regardless of the scanner, so nothing is cut out.
    """

    document: SkillDocument
    folder: str
    scope: Scope
    root: str
    label: str
    digest: str
    mistakes: tuple[str, ...] = ()
    is_allowed: bool = False

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.document.name

    @property
    def body(self) -> str:
        """The skill's instructions, without what the scanner blocks.

        The first access takes milliseconds, up to 0.2 s for a long text.
        """
        return self.document.body if self._passes else scan_instructions(self.document.body).clean_text

    @property
    def findings(self) -> tuple[str, ...]:
        """The passages that the scanner blocks in the skill. The first access takes as long as that of `body`."""
        if self._passes:
            return ()
        return blocked(scan_instructions(self.document.body), self.document.lines_before)

    @property
    def _passes(self) -> bool:
        return self.scope == "builtin" or self.is_allowed

    def files(self) -> tuple[str, ...]:
        """List the other files in the skill's folder, by relative path."""
        found: list[str] = []
        for place, folders, names in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += (os.path.relpath(os.path.join(place, name), self.folder) for name in sorted(names))
            if len(found) > MAX_FILES:
                break
        return tuple(name for name in found if name != FILE and not name.startswith("."))[:MAX_FILES]


class UnusableSkill(Struct, frozen=True):
    """A skill that is not used, with the reason."""

    place: str
    why: str


class SkillCollection(Struct, frozen=True):
    """The skills found, nearest first, without duplicate names."""

    skills: tuple[Skill, ...] = ()
    unusable: tuple[UnusableSkill, ...] = ()
    hidden: tuple[UnusableSkill, ...] = ()
    """Skills that are hidden by a nearer one of the same name, or whose conditions are not met."""

    def find(self, name: str) -> Skill | None:
        """Return the skill with this name."""
        return next((skill for skill in self.skills if skill.name == name), None)


def collect_skills(
    find_skill_folders: Iterable[SkillFolder],
    tools: Iterable[str] = (),
    platform: str = sys.platform,
    reading: "SkillReader | None" = None,
    disabled: Collection[str] = (),
) -> SkillCollection:
    """Read all skills in some folders, using the cache `reading`.

    `tools` contains the available tools. Skills named in `disabled` are not used.
    """
    read_skill = (reading or SkillReader()).read
    skills: dict[str, Skill] = {}
    unusable: list[UnusableSkill] = []
    hidden: list[UnusableSkill] = []
    known = frozenset(tools)
    counts: Counter[Scope] = Counter()
    for skill_folder, folder in _found(find_skill_folders):
        label = (
            skill_folder.label if skill_folder.scope == "builtin" else f"{skill_folder.label}/{folder.name}"
        )
        counts[skill_folder.scope] += 1
        if counts[skill_folder.scope] > MAX_SKILLS:
            unusable.append(UnusableSkill(label, TOO_MANY_SKILLS))
            continue
        read = read_skill(folder, skill_folder, label)
        if isinstance(read, UnusableSkill):
            unusable.append(read)
        elif read.name in disabled:
            hidden.append(UnusableSkill(label, DISABLED))
        elif why := _stays_away(read.document, known, platform):
            hidden.append(UnusableSkill(label, why))
        elif nearer := skills.get(read.name):
            hidden.append(UnusableSkill(label, f"{nearer.label} has the same name and is nearer."))
        else:
            skills[read.name] = read
    return SkillCollection(tuple(skills.values()), tuple(unusable), tuple(hidden))


class SkillReader:
    """A cache with the skill in each folder, valid while the skill is unchanged.

    `allowed` holds digests of texts that the user allows (`allowed_texts`).
    """

    def __init__(
        self, allowed: frozenset[str] = frozenset(), is_foreign: Callable[[str], bool] = lambda _: False
    ) -> None:
        """Initialise without reading anything. `is_foreign` returns whether a path belongs to another profile."""
        self.allowed = allowed
        self._is_foreign = is_foreign
        self._known: dict[tuple[str, str], tuple[tuple[int, int, int], Skill | UnusableSkill]] = {}

    def read(self, folder: Path, skill_folder: SkillFolder, label: str) -> Skill | UnusableSkill:
        """Return a folder's current skill. Blocks."""
        if skill_folder.scope != "builtin" and self._is_foreign(str(folder / FILE)):
            return UnusableSkill(label, "It belongs to another profile.")
        try:
            about = (folder / FILE).stat()
        except OSError:
            return _read(folder, skill_folder, label, self.allowed)
        stamp = about.st_mtime_ns, about.st_size, about.st_ino
        known = self._known.get((str(folder), label))
        if known is None or known[0] != stamp:
            known = self._known[str(folder), label] = stamp, _read(folder, skill_folder, label, self.allowed)
        return known[1]


def fingerprint(find_skill_folders: Iterable[SkillFolder]) -> Fingerprint:
    """Return the path, time and size of each skill's text, so that unchanged skills are not read again."""
    seen: list[tuple[str, int, int]] = []
    for _, folder in _found(find_skill_folders):
        try:
            about = (folder / FILE).stat()
        except OSError:
            continue
        seen.append((str(folder), about.st_mtime_ns, about.st_size))
    return tuple(seen)


def _found(find_skill_folders: Iterable[SkillFolder]) -> Iterator[tuple[SkillFolder, Path]]:
    """Yield each folder that contains a skill, once per link target, up to one more than the limit per scope."""
    seen: set[str] = set()
    counts: Counter[Scope] = Counter()
    for skill_folder in find_skill_folders:
        real = os.path.realpath(skill_folder.path)
        for folder in _folders(skill_folder.path):
            if counts[skill_folder.scope] > MAX_SKILLS:
                break
            place = os.path.join(real, os.path.relpath(folder, skill_folder.path))
            place = os.path.realpath(folder) if os.path.islink(place) else place
            if place not in seen:
                seen.add(place)
                counts[skill_folder.scope] += 1
                yield skill_folder, folder


def _folders(place: Path) -> Iterator[Path]:
    """Yield the skill folders by name, one level deeper if a folder only groups others."""
    for folder in _subfolders(place):
        if os.path.lexists(folder / FILE):
            yield folder
        else:
            yield from (inner for inner in _subfolders(folder) if os.path.lexists(inner / FILE))


def _subfolders(place: Path) -> list[Path]:
    try:
        with os.scandir(place) as entries:
            return sorted(
                Path(entry.path) for entry in entries if not entry.name.startswith(".") and _is_folder(entry)
            )
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link loop


def _root_of(folder: Path, skill_folder: SkillFolder) -> Path:
    """Return the root that a skill's links must not leave.

    Users may link skills from anywhere into their own folders.
    """
    return Path(
        os.path.realpath(
            folder if skill_folder.scope == "user" and folder.is_symlink() else skill_folder.root
        )
    )


def _read(
    folder: Path, skill_folder: SkillFolder, label: str, allowed: frozenset[str]
) -> Skill | UnusableSkill:
    content = read_regular_file(folder / FILE, _root_of(folder, skill_folder), MAX_BYTES)
    if isinstance(content, str):
        return UnusableSkill(label, content)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return UnusableSkill(label, f"It is not UTF-8: the byte at offset {error.start} is invalid.")
    document, mistakes = read_document(text, folder.name)
    if document is None:
        return UnusableSkill(
            label, " ".join(mistake.text for mistake in mistakes if mistake.weight == "error")
        )
    digest = _digest(content)
    is_allowed = digest in allowed
    if skill_folder.scope != "builtin" and not is_allowed and (why := _blocked(document)):
        return UnusableSkill(label, f"{why} {how_to_allow(folder)}")
    told = tuple(mistake.text for mistake in mistakes)
    return Skill(
        document, str(folder), skill_folder.scope, str(skill_folder.root), label, digest, told, is_allowed
    )


def _blocked(document: SkillDocument) -> str:
    """Scan the part of a skill that every session is shown. Its instructions are scanned on use."""
    from injection_scanner.scanner import scan

    head = scan(f"{document.name}: {document.description}\n{document.compatibility}")
    if head.verdict != "block":
        return ""
    if head.failure:
        return head.failure
    why = next(finding.why for finding in head.findings if finding.severity == "block")
    return f"Its description looks like an injected instruction: {why.rstrip('.')}."


def how_to_allow(folder: Path) -> str:
    """Return how to allow a skill's text regardless of the scanner."""
    return f"To allow it unchanged: `hermes-acp scan --allow {shlex.quote(str(folder / FILE))}`."


def blocked(report: "ScanReport", lines_before: int = 0) -> tuple[str, ...]:
    """Describe what is cut out of a text, by line in its file, in which `lines_before` lines precede the text."""
    return tuple(
        f"line {each.line + lines_before}: {each.why} ({each.rule})"
        for each in report.findings
        if each.severity == "block"
    )


def scan_instructions(text: str) -> "ScanReport":
    """Scan a skill's instructions, once per content. A failed scan is repeated next time."""
    report = _look_through(text)
    if report.failure:
        _look_through.cache_clear()
    return report


@lru_cache(maxsize=MAX_SKILLS)
def _look_through(text: str) -> "ScanReport":
    from injection_scanner.scanner import scan

    return scan(text)


def _stays_away(document: SkillDocument, tools: frozenset[str], platform: str) -> str:
    """Return the unmet condition of a skill, or an empty string."""
    names = PLATFORMS.get(platform, (platform,))
    if document.platforms and not set(names) & set(document.platforms):
        return f"It is only for {', '.join(document.platforms)}."
    if not tools:
        return ""
    if lacking := [name for name in document.requires_tools if name not in tools]:
        return f"It needs the tools {', '.join(lacking)}."
    if absent := [
        name for name in document.requires_groups if not TOOL_GROUPS.get(name, frozenset()) & tools
    ]:
        return f"It needs tools from the groups {', '.join(absent)}."
    return ""


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
