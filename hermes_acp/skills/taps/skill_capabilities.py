"""Derive a skill's capabilities beyond giving advice from its files: programs, tools, commands and addresses."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from hermes_acp.skills.git_source import Blob
from hermes_acp.skills.skill_collection import FILE
from hermes_acp.skills.skill_document import read_document
from hermes_acp.skills.skill_validation import text_of

PROGRAM_ENDINGS: Final = (
    *(".bash", ".bat", ".cmd", ".js", ".mjs", ".pl", ".ps1", ".py", ".rb", ".sh", ".ts", ".zsh"),
    *(".exe", ".dll", ".so", ".dylib", ".jar", ".wasm"),
)
_ADDRESS: Final = re.compile(r"\b(?:https?|ssh|ftp|wss?)://([A-Za-z0-9.-]+)", re.IGNORECASE)
_COMMAND: Final = re.compile(r"(?:^|\s)!`[^`\n]+`|^```!", re.MULTILINE)
_TOOLS: Final = re.compile(r"^\s*allowed[-_]tools:\s*(.+)$", re.MULTILINE)


def capabilities_of(name: str, files: Mapping[str, Blob]) -> tuple[str, ...]:
    """Return a skill's capabilities, sorted: `program PATH`, `tool NAME`, `host NAME` and `commands`."""
    found = {each for path, blob in files.items() for each in _of_file(path, blob)}
    main = text_of(files[FILE].content) if FILE in files else None
    document, _ = read_document(main or "", name)
    if document:
        found |= {f"tool {tool}" for tool in document.requires_tools}
        found |= {f"group {group}" for group in document.requires_groups}
    for listed in _TOOLS.findall(main or ""):
        found |= {f"tool {tool}" for tool in re.findall(r"[\w:*-]+(?:\([^)]*\))?", listed)}
    return tuple(sorted(found))


def _of_file(path: str, blob: Blob) -> Iterator[str]:
    text = text_of(blob.content)
    is_script = blob.content.startswith(b"#!") or PurePosixPath(path).suffix.lower() in PROGRAM_ENDINGS
    if blob.is_executable or is_script or text is None:
        yield f"program {path}"
    if text is None:
        return
    yield from (f"host {host.lower().rstrip('.')}" for host in _ADDRESS.findall(text))
    if path.endswith(".md") and _COMMAND.search(text):
        yield "commands"
