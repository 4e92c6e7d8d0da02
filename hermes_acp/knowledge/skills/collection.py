"""All skills that can be used in one place.

Knows: how folders become skills, which of two of one name is meant, which the scanner keeps out, on which machines and
with which tools one is offered. Does not know: how a skill is shown or called for. Blocks on the disk.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from hermes_acp.knowledge.injection import scan
from hermes_acp.knowledge.reading import read_regular
from hermes_acp.knowledge.skills.document import SkillDocument, read_document
from hermes_acp.knowledge.skills.places import Scope, Shelf

FILE: Final = "SKILL.md"
MOST_BYTES: Final = 256 << 10
MOST_SKILLS: Final = 500
PLATFORMS: Final = MappingProxyType(
    {"linux": ("linux",), "darwin": ("macos", "darwin", "mac"), "win32": ("windows", "win32")}
)
Fingerprint = tuple[tuple[str, int, int], ...]


class Skill(Struct, frozen=True):
    """A skill that can be used. `folder` is absolute, `digest` that of its whole SKILL.md.

    `body` is clean: what the scanner blocks is cut out, and `findings` say what that was.
    """

    document: SkillDocument
    folder: str
    scope: Scope
    root: str
    label: str
    digest: str
    body: str
    mistakes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called."""
        return self.document.name

    def files(self) -> tuple[str, ...]:
        """List what else lies in its folder, by path within it."""
        found: list[str] = []
        for place, folders, names in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += (os.path.relpath(os.path.join(place, name), self.folder) for name in sorted(names))
            if len(found) > MOST_SKILLS:
                break
        return tuple(name for name in found if name != FILE and not name.startswith("."))[:MOST_SKILLS]


class Unusable(Struct, frozen=True):
    """A skill that is not used, and why."""

    place: str
    why: str


class Collection(Struct, frozen=True):
    """What was found, the nearest first, each name once."""

    skills: tuple[Skill, ...] = ()
    unusable: tuple[Unusable, ...] = ()
    hidden: tuple[Unusable, ...] = ()
    """Those behind a nearer one of their name, or whose conditions do not hold here."""

    def find(self, name: str) -> Skill | None:
        """Give the skill of a name."""
        return next((skill for skill in self.skills if skill.name == name), None)


def collect(shelves: Iterable[Shelf], tools: Iterable[str] = (), platform: str = sys.platform) -> Collection:
    """Read all skills of some shelves; `tools` are the names of those there are."""
    skills: dict[str, Skill] = {}
    unusable: list[Unusable] = []
    hidden: list[Unusable] = []
    known = frozenset(tools)
    for shelf in shelves:
        for folder in _folders(shelf.path):
            label = f"{shelf.label}/{folder.name}"
            read = _read(folder, shelf, label)
            if isinstance(read, Unusable):
                unusable.append(read)
            elif why := _stays_away(read.document, known, platform):
                hidden.append(Unusable(label, why))
            elif nearer := skills.get(read.name):
                hidden.append(Unusable(label, f"{nearer.label} has the same name and is nearer."))
            elif len(skills) < MOST_SKILLS:
                skills[read.name] = read
    return Collection(tuple(skills.values()), tuple(unusable), tuple(hidden))


def fingerprint(shelves: Iterable[Shelf]) -> Fingerprint:
    """Give path, time and size of each skill's text, so that nothing is read again that did not change."""
    seen: list[tuple[str, int, int]] = []
    for shelf in shelves:
        for folder in _folders(shelf.path):
            try:
                about = (folder / FILE).stat()
            except OSError:
                continue
            seen.append((str(folder), about.st_mtime_ns, about.st_size))
    return tuple(seen)


def _folders(place: Path) -> Iterator[Path]:
    """Give the folders that hold a skill, by name; one deeper where a folder only gathers others."""
    for folder in _subfolders(place):
        if (folder / FILE).is_file() or (folder / FILE).is_symlink():
            yield folder
        else:
            yield from (inner for inner in _subfolders(folder) if (inner / FILE).is_file())


def _subfolders(place: Path) -> list[Path]:
    try:
        with os.scandir(place) as entries:
            return sorted(
                Path(entry.path) for entry in entries if entry.is_dir() and not entry.name.startswith(".")
            )
    except OSError:
        return []


def _read(folder: Path, shelf: Shelf, label: str) -> Skill | Unusable:
    content = read_regular(folder / FILE, Path(os.path.realpath(shelf.root)), MOST_BYTES)
    if isinstance(content, str):
        return Unusable(label, content)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as trouble:
        return Unusable(label, f"It is not UTF-8: byte {trouble.start} does not fit.")
    document, mistakes = read_document(text, folder.name)
    if document is None:
        return Unusable(label, " ".join(mistake.text for mistake in mistakes if mistake.weight == "error"))
    told = tuple(mistake.text for mistake in mistakes)
    if shelf.scope == "builtin":
        return Skill(
            document, str(folder), shelf.scope, str(shelf.root), label, _digest(content), document.body, told
        )
    return _scanned(document, content, folder, shelf, label, told)


def _scanned(
    document: SkillDocument, content: bytes, folder: Path, shelf: Shelf, label: str, told: tuple[str, ...]
) -> Skill | Unusable:
    """Let the scanner see what every session is shown of a skill, and what one that is called for says."""
    head = scan(f"{document.name}: {document.description}\n{document.compatibility}")
    if head.verdict == "block":
        why = next(finding.why for finding in head.findings if finding.severity == "block")
        return Unusable(label, f"Its description looks like an injected instruction: {why}.")
    body = scan(document.body)
    findings = tuple(
        f"line {each.line}: {each.why} ({each.rule})" for each in body.findings if each.severity == "block"
    )
    return Skill(
        document,
        str(folder),
        shelf.scope,
        str(shelf.root),
        label,
        _digest(content),
        body.clean_text,
        told,
        findings,
    )


def _stays_away(document: SkillDocument, tools: frozenset[str], platform: str) -> str:
    """Say which condition of a skill does not hold here."""
    names = PLATFORMS.get(platform, (platform,))
    if document.platforms and not set(names) & set(document.platforms):
        return f"It is for {', '.join(document.platforms)}."
    lacking = [name for name in document.requires_tools if name not in tools]
    return f"It needs the tools {', '.join(lacking)}." if tools and lacking else ""


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
