"""Scan results for skills, stored by content so that no process repeats another's scan.

Results are valid only for the scanner that produced them. Losing the file only costs time. Functions block on disk I/O.
"""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

import injection_scanner
from hermes_acp.core.errors import StorageError
from hermes_acp.skills.skill_collection import Skill
from hermes_acp.storage.private_files import private_folder, write_whole
from injection_scanner.scan_failures import NOT_SCANNED

FILE: Final = "scanned-skills"
MAX_KEPT: Final = 20_000


class ScanRecord(Struct, frozen=True):
    """The results of a scanner, by text digest."""

    scanner: str
    findings: dict[str, tuple[str, ...]]


class ScanRecords:
    """The scan results for the skills of a home folder."""

    def __init__(self, home: Path) -> None:
        self._file = home / "cache" / FILE
        self._findings: dict[str, tuple[str, ...]] | None = None
        self._scanner = ""
        self.has_new = False
        """Whether there are unsaved results."""

    def of(self, skill: Skill) -> tuple[str, ...]:
        """Return the passages blocked in a skill, scanning it if necessary. See `keep`."""
        known, key = self._known(), _key(skill)
        if (found := known.get(key)) is None:
            if len(known) >= MAX_KEPT:
                known.clear()
            found = skill.findings
            if not any(NOT_SCANNED in each for each in found):
                known[key] = found
                self.has_new = True
        return found

    def keep(self) -> None:
        """Store the results of the scans since the last call."""
        if self.has_new:
            self.has_new = False
            with suppress(OSError, StorageError):
                kept = ScanRecord(self._scanner, dict(self._known()))
                write_whole(
                    private_folder(self._file.parent) / FILE, msgspec.msgpack.encode(kept), mode=0o600
                )

    def _known(self) -> dict[str, tuple[str, ...]]:
        if self._findings is None:
            self._scanner = scanner_fingerprint()
            self._findings = {}
            with suppress(OSError, msgspec.MsgspecError):
                kept = msgspec.msgpack.decode(self._file.read_bytes(), type=ScanRecord)
                self._findings = kept.findings if kept.scanner == self._scanner else {}
        return self._findings


def scanner_fingerprint() -> str:
    """Return a fingerprint of this scanner: its files, their sizes and modification times."""
    whole = sha256()
    for folder, folders, files in os.walk(os.path.dirname(injection_scanner.__file__)):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for name in sorted(files):
            about = os.stat(os.path.join(folder, name))
            whole.update(f"{name}\0{about.st_size}\0{about.st_mtime_ns}\0".encode())
    return whole.hexdigest()


def _key(skill: Skill) -> str:
    """Return a key for everything that the findings depend on: the text, and whether it is scanned at all."""
    return f"{skill.digest} passes" if skill.scope == "builtin" or skill.is_allowed else skill.digest
