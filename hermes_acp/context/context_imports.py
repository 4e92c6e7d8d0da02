"""Parse imports in context files (`@path`, as in Claude Code and Gemini CLI) and conditions in Cursor's rules."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.lazy_pattern import LazyPattern

MAX_DEPTH: Final = 5
MAX_IMPORTS: Final = 50
IMPORT: Final = LazyPattern(
    r"(?:^|(?<=[\s(]))@((?:~/|/|(?:\.{1,2}/)*)[\w][\w./-]*\.(?:md|mdc|txt))(?![\w/])", re.MULTILINE
)
CODE: Final = LazyPattern(r"^(`{3,}|~{3,}).*?^\1[`~]*[ \t]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
FRONT: Final = LazyPattern(r"\A---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)


class RuleFile(Struct, frozen=True):
    """A rule: its text, and when it applies; without globs, its description says when."""

    body: str
    applies_always: bool = True
    globs: tuple[str, ...] = ()
    description: str = ""

    def shown(self, label: str) -> str:
        """Return what the prompt contains for the rule: its full text, or when to read it."""
        if self.applies_always:
            return self.body
        to_what = f"files like {', '.join(self.globs)}" if self.globs else "some tasks"
        about = f": {self.description}" if self.description else ""
        return f"[{label} applies to {to_what}{about}. Read it before you work on that.]"


def imports_of(text: str) -> Iterator[str]:
    """Yield the paths that a text imports, in order; code blocks are ignored."""
    plain = CODE.compiled.sub(lambda found: " " * len(found.group()), text)
    for number, found in enumerate(IMPORT.compiled.finditer(plain)):
        if number >= MAX_IMPORTS:
            return
        yield found.group(1)


def resolved(named: str, importer: Path) -> Path:
    """Return the path of an import; a relative path starts at the importing file's folder."""
    return Path(named).expanduser() if named.startswith("~/") else importer.parent / named


def read_rule(text: str) -> RuleFile:
    """Parse an `.mdc` rule; a rule without front matter always applies."""
    found = FRONT.compiled.match(text)
    if not found:
        return RuleFile(text)
    fields: dict[str, str] = {}
    for line in found.group(1).splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() == name:
            fields[name] = value.strip().strip("\"'")
    globs = tuple(part.strip(" []\"'") for part in fields.get("globs", "").split(",") if part.strip(" []\"'"))
    body = text[found.end() :]
    is_limited = bool(globs or fields.get("description"))
    applies_always = fields.get("alwaysApply", "").lower() == "true" or not is_limited
    return RuleFile(body, applies_always, globs, fields.get("description", ""))
