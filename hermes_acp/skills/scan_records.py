"""What the scanner blocks of skills, kept by their content: so a process need not scan what another one has scanned.

Knows: that what is kept counts only for the scanner that said it. Does not know: skills in use; what is cut out of one
is found anew whenever it is called for. Blocks on the disk; a file that is lost or cannot be written costs time alone.
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
    """What one scanner said of texts, by their digests."""

    scanner: str
    findings: dict[str, tuple[str, ...]]


class ScanRecords:
    """What is known of the texts of one home's skills."""

    def __init__(self, home: Path) -> None:
        self._file = home / "cache" / FILE
        self._findings: dict[str, tuple[str, ...]] | None = None
        self._scanner = ""
        self.has_new = False
        """Whether something was scanned that is not written down."""

    def of(self, skill: Skill) -> tuple[str, ...]:
        """Return what is blocked of a skill; scans it where nobody has. See `keep`."""
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
        """Write down what was scanned since this was last called."""
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
    """Tell this scanner from every other: by its files, their sizes and when they were written."""
    whole = sha256()
    for folder, folders, files in os.walk(os.path.dirname(injection_scanner.__file__)):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for name in sorted(files):
            about = os.stat(os.path.join(folder, name))
            whole.update(f"{name}\0{about.st_size}\0{about.st_mtime_ns}\0".encode())
    return whole.hexdigest()


def _key(skill: Skill) -> str:
    """Return what decides on the findings: its text, and whether it is looked at at all."""
    return f"{skill.digest} passes" if skill.scope == "builtin" or skill.is_allowed else skill.digest
