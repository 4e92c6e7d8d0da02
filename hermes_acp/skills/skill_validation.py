"""Validate a skill's files against the standard, the limits and the scanner.

Source: agentskills.io/specification.
"""

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.lazy_pattern import LazyPattern
from hermes_acp.skills.skill_collection import FILE, MAX_BYTES
from hermes_acp.skills.skill_document import read_document

if TYPE_CHECKING:
    from injection_scanner.findings import Finding

MAX_TEXT_BYTES: Final = 64 << 10
"""The maximum size of a SKILL.md written by the agent, which is read in full whenever the skill is used."""
MAX_FILES: Final = 200
MAX_FOLDER_BYTES: Final = 10 << 20
LINK: Final = LazyPattern(r"\[[^\]\n]*\]\(<?([^)\s>#?]+)[^)\n]*\)")
ELSEWHERE: Final = LazyPattern(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/|#|\$|~|\{")
MAX_SHOWN_CHARACTERS: Final = 120
MAX_SHOWN_COMMANDS: Final = 5
"""Per file."""
_SHELL: Final = r"(?:[\w./-]{0,60}/)?(?:ba|da|k|z)?sh\b"
_RUN_DOWNLOAD: Final = LazyPattern(
    r"\b(?:curl|wget|irm|iwr|invoke-restmethod|invoke-webrequest)\b(?:[^|\n]|\\\n){0,200}\|[\s\\]{0,40}"
    rf"(?:(?:sudo(?:\s+-\S{{1,20}})?\s+)?{_SHELL}|iex\b|invoke-expression\b)"
    rf"|\b(?:eval|source|(?:ba|da|k|z)?sh)\s[^\n]{{0,40}}?[$<]\(\s*(?:curl|wget)\b",
    re.IGNORECASE,
)


class FileFinding(Struct, frozen=True):
    """A scanner finding in a file."""

    file: str
    finding: "Finding"

    @property
    def summary(self) -> str:
        """A short description of the finding."""
        found = self.finding
        return f"{self.file}, line {found.line}: {found.why} ({found.rule})"


class SkillCheck(Struct, frozen=True):
    """The result of checking a skill's files.

    With `faults`, the skill is invalid. `warnings` are for the person who decides.
    """

    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check_skill(name: str, files: Mapping[str, bytes], *, is_foreign: bool = False) -> SkillCheck:
    """Check all files of a skill, given by relative path, for a folder of that name.

    With `is_foreign`, the skill was also written for other agents, and tolerated mistakes are warnings.
    """
    faults, warnings = _document(name, files, is_foreign=is_foreign)
    faults += _sizes(files)
    findings = scan_files(files)
    faults += [
        f"The scanner blocks {found.summary}." for found in findings if found.finding.severity == "block"
    ]
    warnings += [
        f"The scanner warns about {each.summary}." for each in findings if each.finding.severity == "warn"
    ]
    if is_foreign:
        warnings += _run_downloads(files)
    return SkillCheck(tuple(faults), tuple(warnings))


def _run_downloads(files: Mapping[str, bytes]) -> list[str]:
    """List the commands that run downloaded content, which its server can change later."""
    found: list[str] = []
    for path, content in sorted(files.items()):
        text = text_of(content) or ""
        for command in islice(_RUN_DOWNLOAD.compiled.finditer(text), MAX_SHOWN_COMMANDS):
            line = text.count("\n", 0, command.start()) + 1
            shown = " ".join(command[0].split())[:MAX_SHOWN_CHARACTERS]
            found.append(f"{path}, line {line}, runs downloaded content: {shown}")
    return found


def scan_files(files: Mapping[str, bytes]) -> tuple[FileFinding, ...]:
    """Scan every text file in full, including scripts."""
    from injection_scanner.scanner import scan

    found: list[FileFinding] = []
    for path, content in sorted(files.items()):
        text = text_of(content)
        if text is not None:
            found += (FileFinding(path, finding) for finding in scan(text).findings)
    return tuple(found)


def text_of(content: bytes) -> str | None:
    """Return a file's text, or None if it is not text."""
    if b"\0" in content:
        return None
    return content.decode("utf-8", "replace")


def _document(name: str, files: Mapping[str, bytes], *, is_foreign: bool) -> tuple[list[str], list[str]]:
    content = files.get(FILE)
    if content is None:
        return [f"It has no {FILE}."], []
    most = MAX_BYTES if is_foreign else MAX_TEXT_BYTES
    if len(content) > most:
        hint = "move tables and reference into references/"
        return [f"Its {FILE} has {len(content):,} bytes; the maximum is {most:,}: {hint}."], []
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return [f"Its {FILE} is not UTF-8: the byte at offset {error.start} is invalid."], []
    document, mistakes = read_document(text, name)
    faults = [each.text for each in mistakes if each.weight == "error" or not is_foreign]
    warnings = [each.text for each in mistakes if each.weight == "warning" and is_foreign]
    if document is not None:
        if not document.body.strip():
            faults.append("It has no text after its front matter.")
        missing = [f"It links to {link}, which is not among its files." for link in _lost_links(text, files)]
        (warnings if is_foreign else faults).extend(missing)
    return faults, warnings


def _lost_links(text: str, files: Mapping[str, bytes]) -> list[str]:
    """List the links within the skill's own folder whose targets are missing."""
    folders = {parent.as_posix() for path in files for parent in PurePosixPath(path).parents}
    links = dict.fromkeys(found.group(1) for found in LINK.compiled.finditer(_without_code(text)))
    inner = (link for link in links if not ELSEWHERE.compiled.match(link))
    return [
        link
        for link in inner
        if PurePosixPath(link).as_posix() not in files and PurePosixPath(link).as_posix() not in folders
    ]


def _without_code(text: str) -> str:
    return re.sub(r"^(`{3,}|~{3,}).*?^\1|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)


def _sizes(files: Mapping[str, bytes]) -> list[str]:
    size_bytes = sum(map(len, files.values()))
    if len(files) > MAX_FILES or size_bytes > MAX_FOLDER_BYTES:
        most = f"the limits are {MAX_FILES} and {MAX_FOLDER_BYTES:,}"
        return [f"It has {len(files)} files of {size_bytes:,} bytes; {most}."]
    return []
